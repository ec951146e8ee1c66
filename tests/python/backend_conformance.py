#!/usr/bin/env python3
"""backend_conformance.py EXCLUDED [--least N] [--show N]: ONNX's own backend tests, of the installed onnx, through
viridian.backend. EXCLUDED has the same lines as for the conformance program: "node/test_name*: reason", or the path of a
test's files in the newest set."""
import argparse
import fnmatch
import re
import unittest

import onnx.backend.test

import viridian.backend

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("excluded")
parser.add_argument("--least", type=int, default=1)
parser.add_argument("--show", type=int, default=20, help="failures that are printed")
options = parser.parse_args()

tests = onnx.backend.test.BackendTest(viridian.backend, __name__)
with open(options.excluded, encoding="utf-8") as file:
    for pattern in re.findall(r"^(?:\*/onnx/backend/test/data/)?[\w-]+/([^/\s]+)(?:/\*)?: ", file.read(), re.M):
        tests.exclude("^" + fnmatch.translate(pattern).replace(r"\Z", "").replace(r"\z", "") + "_cpu$")

result = unittest.TestResult()
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in tests.test_cases.values())
suite.run(result)
failed = result.failures + result.errors
for case, text in failed[:options.show]:
    print("FAILED", case.id().rpartition(".")[2], text.strip().splitlines()[-1][:300])
passed = result.testsRun - len(failed) - len(result.skipped)
excluded = sum(case.id().endswith("_cpu") for case, _ in result.skipped)  # the others are for other devices
print(f"{passed} passed, {len(failed)} failed ({excluded} excluded)")
raise SystemExit(0 if not failed and passed >= options.least else 1)
