"""harness_test.py VIRIDIAN: what the comparisons with other runtimes rest on. Orders of systems are balanced; the compiled
workers compute what ONNX Runtime's Python does, run where they were told and say what is wrong; the tables of compare.py and
disturbed.py have every row and setting. No time is judged."""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "benchmarks/peers"
sys.path.insert(0, str(PEERS))

from models import Bound, plan, relative_error  # noqa: E402
from systems import Settings, System, compiled  # noqa: E402
from turns import orders, percentile, ratio_of_rounds  # noqa: E402

VIRIDIAN = pathlib.Path(sys.argv[1]).resolve()


def write_model(path):
    """A product, a comparison and an integer input: several types go in and come out."""
    random = np.random.default_rng(7)
    weights = helper.make_tensor("w", TensorProto.FLOAT, [256, 256], random.standard_normal(256 * 256).astype(np.float32))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Gather", ["product", "i"], ["y"], axis=1),
             helper.make_node("Greater", ["x", "zero"], ["positive"])]
    graph = helper.make_graph(
        nodes, "harness",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [128, 256]), helper.make_tensor_value_info("i", TensorProto.INT64, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [128, 3]), helper.make_tensor_value_info("positive", TensorProto.BOOL, [128, 256])],
        [weights, helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


class Turns(unittest.TestCase):
    def test_orders_are_balanced(self):
        for count in range(1, 9):
            rows = orders(count)
            followed, placed = collections.Counter(), collections.Counter()
            for row in rows:
                self.assertEqual(sorted(row), list(range(count)))
                followed.update(zip(row, row[1:]))
                placed.update(enumerate(row))
            self.assertLessEqual(len(set(followed.values())), 1, count)
            self.assertEqual(len(followed), count * (count - 1))
            self.assertEqual(len(set(placed.values())), 1, count)

    def test_percentiles_are_times_that_were_measured(self):
        self.assertEqual(percentile([3, 1, 2], 0.5), 2)
        self.assertEqual(percentile(list(range(1, 101)), 0.99), 99)
        self.assertEqual(percentile([5], 0.99), 5)

    def test_ratios_are_of_rounds(self):
        self.assertEqual(ratio_of_rounds([[2, 2], [9], [4]], [[1, 1], [3], [4]]), (2, 1, 3))


class Errors(unittest.TestCase):
    def test_the_worst_output_counts(self):
        a, b = np.array([3.0, 4.0]), np.array([3.0, 4.0])
        self.assertEqual(relative_error([a, a + [0, 0.5]], [b, b]), 0.1)
        self.assertEqual(relative_error([a], [np.zeros(2)]), 5)
        self.assertEqual(relative_error([a], [np.zeros(3)]), float("inf"))
        self.assertEqual(relative_error([a * np.nan], [b]), float("inf"))


class Plans(unittest.TestCase):
    def test_a_plan_is_taken_again_only_if_the_same_command_made_it(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            program = work / "viridian"  # counts its calls, and writes the plan beside its argument `-o`
            program.write_text(f'#!/bin/sh\necho x >>"{work}/calls"\ntouch "$(echo "$*" | sed "s/.*-o \\([^ ]*\\).onnx.*/\\1/").plan.json"\n')
            program.chmod(0o755)
            options = argparse.Namespace(viridian=str(program), work=str(work), threads=2, db=None, search="", pin="all", again=False, real_time=False)
            calls = []
            for change in ({}, {}, {"threads": 1}, {"threads": 1}, {"pin": "none"}, {"again": True}):
                for name, value in change.items():
                    setattr(options, name, value)
                self.assertTrue(plan(options, work / "net.onnx").exists())
                calls.append(len((work / "calls").read_text().split()))
            self.assertEqual(calls, [1, 1, 2, 2, 3, 4])
            self.assertNotEqual(plan(options, work / "net.onnx"), plan(options, work / "net.onnx", exact=True))


class Workers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        write_model(cls.work / "model.onnx")
        cls.bound = Bound(cls.work / "model.onnx", cls.work / "tensors", 200)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def system(self, name, **more):
        threads = min(2, len(os.sched_getaffinity(0)))
        return System(Settings(str(VIRIDIAN), self.work, threads, **more), name, self.bound)

    def test_they_compute_the_same_where_they_were_told_to(self):
        for name in ("viridian", "onnxruntime", "openvino"):
            for pin, nice in (("all", 0), ("none", 19)):
                with self.subTest(name=name, pin=pin):
                    system = self.system(name, pin=pin, nice=nice)
                    processors = system.warm_up(0.5)
                    self.assertEqual(system.priority(), f"nice {nice}")
                    if pin == "all":
                        self.assertEqual([count for count in processors if count is not None], [1] * len(processors))
                    elif len(os.sched_getaffinity(0)) > 1:
                        self.assertNotIn(1, processors)
                    self.assertGreaterEqual(len(system.turn(0.01)), 2)
                    self.assertEqual(len(system.times), 1)
                    self.assertGreater(system.growth(), 0)
                    self.assertLess(system.growth(), 500)
                    error = system.close()
                    self.assertLess(error, 1e-5)
                    if name == "onnxruntime":
                        self.assertEqual(error, 0)

    def test_they_say_what_is_wrong(self):
        for name, files, said in (("onnxruntime", {"tensors": "output\ty\tmissing.npy\n"}, "missing.npy is no .npy file"),
                                  ("onnxruntime", {"tensors": "input\tx\t" + str(self.work / "half.npy") + "\n"}, "shorter than its shape"),
                                  ("onnxruntime", {"model": "missing.onnx"}, "ONNX Runtime: "),
                                  ("openvino", {"model": "missing.onnx"}, "OpenVINO: compile: "),
                                  ("openvino", {"tensors": ""}, "names no output")):
            with self.subTest(said=said):
                np.save(self.work / "half.npy", np.zeros(8, np.float32))
                whole = (self.work / "half.npy").read_bytes()
                (self.work / "half.npy").write_bytes(whole[:-4])
                tensors = self.bound.tensors
                if "tensors" in files:
                    tensors = self.work / "wrong.txt"
                    tensors.write_text(files["tensors"])
                command = [compiled(name, self.work / "workers"), files.get("model", self.bound.model), tensors, "1", "-", "f32", "-"]
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True, input="")
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)


class Tables(unittest.TestCase):
    def test_every_row_and_setting_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write_model(folder / "model.onnx")
            threads = min(2, len(os.sched_getaffinity(0)))
            common = ["--viridian", VIRIDIAN, "--work", folder / "work", "--models", folder / "model.onnx", "--seconds", "0.01",
                      "--output", folder / "table.md", "--threads", threads]
            for script, more, systems, told in (
                    ("compare.py", ["--rounds", "2", "--title", "A title"], ["viridian", "viridian:exact", "onnxruntime", "openvino"],
                     ["# A title", "Strassen", "amplify errors", "each thread on a processor of its own", "nice 0 for every system", "one Relu", f"| {threads} for every system"]),
                    ("compare.py", ["--rounds", "1", "--pin", "none", "--nice", "3", "--no-exact", "--peers", "onnxruntime"], ["viridian", "onnxruntime"],
                     ["no thread pinned", "nice 3 for every system"]),
                    ("disturbed.py", ["--runs", "2", "--turns", "1", "--cell", "0.1", "--least-share", "0", "--threads", "1"], ["viridian", "onnxruntime", "openvino"],
                     ["of a processor each", "p99 is above a peer's in", "no thread pinned", "| 1 for every system"])):
                with self.subTest(script=script, more=more):
                    done = subprocess.run([sys.executable, PEERS / script, *map(str, common + more)], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    text = (folder / "table.md").read_text()
                    self.assertEqual(text, done.stdout)
                    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
                    place = rows[0].index("system")
                    self.assertEqual(list(dict.fromkeys(row[place] for row in rows[1:] if len(row) == len(rows[0]))), systems)
                    for words in [*told, "ONNX Runtime 1.", "family", "the kernel confirms", script]:
                        self.assertIn(words, text)
                    if script == "compare.py":
                        errors = [float(row[rows[0].index("error")]) for row in rows[1:] if len(row) == len(rows[0])]
                        self.assertEqual(len(errors), len(systems))
                        self.assertLess(max(errors), 1e-4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
