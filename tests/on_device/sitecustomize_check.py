#!/usr/bin/env python3
"""The sitecustomize that `viridian record --torch` puts before a program: on a Python without one of its own it says
nothing, and on one with its own that one runs too. Both are made here, whatever this Python has."""
import os
import subprocess
import sys
import tempfile

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device/torch_site")
# As the `site` module does it, in a Python that sees only these two folders' sitecustomize.
START = """
import sys
from importlib.machinery import PathFinder
site, own = sys.argv[1:3]
class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        if name != "sitecustomize":
            return None
        spec = PathFinder.find_spec(name, [folder for folder in (site, own) if folder in sys.path])
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return spec
sys.meta_path.insert(0, OnlyThese())
sys.path[:0] = [site, own]
import sitecustomize
print("sitecustomize" in sys.modules, getattr(sitecustomize, "OWN", "none"), site in sys.path)
"""


def started(own, trace=""):
    done = subprocess.run([sys.executable, "-S", "-c", START, os.path.abspath(SITE), own], capture_output=True, text=True,
                          env=dict(os.environ, VIRIDIAN_TORCH_FOLDER=trace), check=False)
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory() as folder:
    for trace in ("", folder):
        said = started(folder, trace)
        if said != "True none False\n":
            sys.exit(f"FAILED: a Python without sitecustomize says: {said}")
    with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("OWN = 'own'\n")
    said = started(folder)
    if said != "True own False\n":
        sys.exit(f"FAILED: a Python with a sitecustomize of its own says: {said}")
