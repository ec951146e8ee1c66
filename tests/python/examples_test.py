"""The examples in Python run, and every example has fewer than 30 lines. Those in C++ and C run in tests/api/installed.sh."""
import ast
import importlib.util
import json
import os
import re
import subprocess
import sys

from support import ROOT, VIRIDIAN, InFolder, zoo

EXAMPLES = ROOT / "examples" / "python"


class Examples(InFolder):
    def said(self, name, *arguments):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        self.skip_without(text)
        done = subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], cwd=self.folder, check=False, capture_output=True,
                              text=True, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def skip_without(self, text):
        needed = re.findall(r"import (torch|transformers|lightning)$", text, re.M)
        for package in needed + ["accelerate"] * ("transformers" in needed) + ["grpc"] * ("viridian.monitor" in text):
            if importlib.util.find_spec(package) is None:
                self.skipTest(f"{package} is not installed")

    def environment(self):
        return dict(os.environ, XDG_CACHE_HOME=str(self.folder), PYTHONWARNINGS="ignore")

    def test_they_are_short(self):
        for example in [file for file in EXAMPLES.parent.rglob("*") if file.suffix in (".py", ".cpp", ".c")]:
            self.assertLess(len(example.read_text(encoding="utf-8").splitlines()), 30, example.name)
            tested = example.suffix != ".py" or example.stem.startswith("_") or hasattr(self, "test_" + example.stem)
            self.assertTrue(tested, f"{example.name} has no test")

    def test_measure(self):
        self.assertIn("all: ", self.said("measure.py"))

    def test_layers(self):
        said = self.said("layers.py")
        self.assertIn("2 (Conv2d)", said)
        self.assertIn("(optimizer)", said)

    def test_optimize_and_call(self):
        self.assertRegex(self.said("optimize_and_call.py"), r"largest difference: \d\.?\d*(e-\d+)?")

    def test_session(self):
        model = zoo("small_cnn", self.path("cnn.onnx"))
        said = self.said("session.py", model)
        self.assertEqual(len(said.splitlines()), 2)
        self.assertIn("classes: [", said)

    def test_diff_in_ci(self):
        baseline = self.path("baseline.json")
        self.assertIn("saved the baseline", self.said("diff_in_ci.py", baseline))
        try:
            self.assertIn("joules a step", self.said("diff_in_ci.py", baseline))
        except AssertionError as error:  # a busy machine: the example says so in its own words
            self.assertIn("the energy grew by", str(error))

    def test_sizes(self):
        said = self.said("sizes.py")
        self.assertEqual(said.count("largest difference:"), 3)
        self.assertIn("[5, 64]", said)

    def test_decode(self):
        said = self.said("decode.py")
        self.assertRegex(said, r"J a token \(.*\): \d+ \d+")
        self.assertIn("same tokens as PyTorch: True", said)

    def test_trainer(self):
        self.check_training(self.said("trainer.py"), "bert.encoder")

    def test_lightning_trainer(self):
        self.check_training(self.said("lightning_trainer.py"), "0 (Linear)")

    def check_training(self, said, module):
        self.assertIn("'energy/joules_per_step': '", said)
        self.assertIn(module, said)
        self.assertIn("energy.rank0.json", said)

    def test_monitored_training(self):
        self.skip_without((EXAMPLES / "monitored_training.py").read_text(encoding="utf-8"))
        socket = f"unix:{self.folder}/monitor.sock"
        with subprocess.Popen([VIRIDIAN, "serve", "--listen", socket], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as server:
            try:
                self.assertIn("monitor.sock", server.stderr.readline())
                said = self.said("monitored_training.py", socket)
            finally:
                server.terminate()
                server.communicate()
        self.assertRegex(said, r"epoch 2: loss \d\.\d{4}, \d+\.\d{3} J in \d+\.\d{3} s \(\w+:")
        self.assertRegex(said, r"training: \d+\.\d{3} J")

    def test_notebook(self):
        """The cells run in their order. What a cell's last line gives is shown as Jupyter does: by its page."""
        with open(EXAMPLES / "notebook.ipynb", encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual(notebook["nbformat"], 4)
        self.assertTrue(all(not cell.get("outputs") for cell in notebook["cells"]), "clear the outputs before a commit")
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertLessEqual(sum(len(cell.splitlines()) for cell in cells), 30)
        self.skip_without("\n".join(cells))
        program = []
        for cell in cells:
            tree = ast.parse(cell)
            if isinstance(tree.body[-1], ast.Expr):
                last = ast.unparse(tree.body.pop())
                program += [ast.unparse(tree), f"print('page', ({last})._repr_html_().count('<'))"]
            else:
                program.append(cell)
        done = subprocess.run([sys.executable, "-c", "\n".join(program)], cwd=self.folder, check=False, capture_output=True,
                              text=True, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("page"), 3)
        self.assertIn("largest difference:", done.stdout)

    def test_notebook_in_jupyter(self):
        self.skip_without("import torch")
        for package in ("nbclient", "ipykernel"):
            if importlib.util.find_spec(package) is None:
                self.skipTest(f"{package} is not installed")
        import nbclient
        import nbformat
        notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
        client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(self.folder)}})
        client.execute(env=self.environment())
        pages = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "text/html" in output.get("data", {})]
        self.assertEqual(len(pages), 3)
