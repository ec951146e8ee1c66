"""The blocks of docs/python.md run, from the first to the last. tests/docs/run_pages.py runs those of the guides and the README."""
import importlib.util
import os
import re
import subprocess
import sys

from support import ROOT, InFolder, zoo


class Guide(InFolder):
    def test_guide(self):
        text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertTrue(blocks, "docs/python.md has no block of Python")
        program = "\n".join(blocks)
        if "import torch" in program and importlib.util.find_spec("torch") is None:
            self.skipTest("torch is not installed")
        zoo("small_cnn", self.path("model.onnx"))
        done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, env=dict(os.environ, XDG_CACHE_HOME=str(self.folder)),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
