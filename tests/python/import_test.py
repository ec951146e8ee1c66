"""What `import viridian` brings."""
import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys
import unittest

import viridian


class Import(unittest.TestCase):
    def test_it_is_light(self):
        program = ("import sys, time; begin = time.perf_counter(); import viridian; took = time.perf_counter() - begin; "
                   "print(took, *[name for name in ('torch', 'numpy', 'pandas', 'onnx', 'grpc', 'transformers', 'lightning') if name in sys.modules])")
        runs = []
        for _ in range(3):
            took, *heavy = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
            self.assertEqual(heavy, [])
            runs.append(float(took))
        print(f"`import viridian` took {min(runs):.3f} s")  # told, not tested: a busy machine is slow

    def test_it_is_typed(self):
        folder = pathlib.Path(viridian.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        stub = (folder / "_core.pyi").read_text()
        for name in ("class Model", "class Windows", "def optimize", "def run("):
            self.assertIn(name, stub)
        compile(stub, "_core.pyi", "exec")

    def test_all_is_there(self):
        for name in viridian.__all__:
            self.assertTrue(getattr(viridian, name).__doc__, name)
        self.assertEqual(viridian.__version__, importlib.metadata.version("viridian-energy"))

    def test_the_client_of_the_monitor_is_in_the_package(self):
        if importlib.util.find_spec("grpc") is None:
            self.skipTest("grpcio is not installed")
        from viridian.monitor import Monitor, NoMonitor, pb
        self.assertTrue(pb.StartRequest)
        with self.assertRaisesRegex(NoMonitor, "viridian serve"):
            with Monitor("unix:/nowhere/monitor.sock").session():
                pass

    def test_it_lives_beside_torch_in_both_orders(self):
        program = ("import {first}; import {second}; import torch, viridian, numpy\n"
                   "a, b = torch.randn(4, 3, 32, 32), torch.nn.Conv2d(3, 8, 3)\n"
                   "print(float(b(a).sum()), viridian.__version__)")
        for pair in (("torch", "viridian"), ("viridian", "torch")):
            done = subprocess.run([sys.executable, "-c", program.format(first=pair[0], second=pair[1])], capture_output=True, text=True)
            if "No module named 'torch'" in done.stderr:
                self.skipTest("torch is not installed")
            self.assertEqual(done.returncode, 0, done.stderr)
