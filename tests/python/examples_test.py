"""The examples run, and none is longer than 30 lines."""
import importlib.util
import os
import subprocess
import sys

from support import ROOT, InFolder, zoo

EXAMPLES = ROOT / "examples" / "python"


class Examples(InFolder):
    def said(self, name, *arguments):
        if "import torch" in (EXAMPLES / name).read_text() and importlib.util.find_spec("torch") is None:
            self.skipTest("torch is not installed")
        done = subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], cwd=self.folder, check=False, capture_output=True,
                              text=True, env=dict(os.environ, XDG_CACHE_HOME=str(self.folder)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_they_are_short(self):
        for example in EXAMPLES.glob("*.py"):
            self.assertLessEqual(len(example.read_text().splitlines()), 30, example.name)
            self.assertTrue(hasattr(self, "test_" + example.stem), f"{example.name} has no test")

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
