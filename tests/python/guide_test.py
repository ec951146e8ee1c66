"""The blocks of the guide and of the README run, each page from its first block to its last."""
import importlib.util
import os
import re
import subprocess
import sys

from support import ROOT, InFolder, zoo

PAGES = ("docs/python.md", "README.md")


class Guide(InFolder):
    def run_page(self, page):
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertTrue(blocks, f"{page} has no block of Python")
        program = "\n".join(blocks)
        if "import torch" in program and importlib.util.find_spec("torch") is None:
            self.skipTest("torch is not installed")
        folder = self.folder / page.replace("/", "_")
        folder.mkdir()
        zoo("small_cnn", str(folder / "model.onnx"))
        done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=dict(os.environ, XDG_CACHE_HOME=str(folder)),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_guide(self):
        self.run_page(PAGES[0])

    def test_readme(self):
        self.run_page(PAGES[1])

