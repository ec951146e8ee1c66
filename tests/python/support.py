"""Models and meters for the tests of the package."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VIRIDIAN = os.environ["VIRIDIAN"]


def zoo(name, file, *options):
    """A network of the zoo, written to `file`."""
    subprocess.run([VIRIDIAN, "zoo", name, "-o", file, *options], check=True, capture_output=True)
    return file


def torch_or_skip():
    try:
        import torch
    except ImportError as error:
        raise unittest.SkipTest(f"torch is not installed: {error}") from error
    return torch


class InFolder(unittest.TestCase):
    """Tests with a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def path(self, name):
        return str(self.folder / name)
