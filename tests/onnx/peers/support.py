"""Shared by the tests that run in the peers' virtual environment."""
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
ROOT = pathlib.Path(__file__).resolve().parents[3]
DEBIAN = pathlib.Path("/usr/share/libonnx-testdata/data")
NEWEST = pathlib.Path(onnx.__file__).parent / "backend/test/data"


def tool(binary, *arguments):
    done = subprocess.run([str(binary), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{binary} {arguments}: {done.stderr}")
    return done.stdout


def numbered(folder, stem):
    arrays = []
    while (file := folder / f"{stem}_{len(arrays)}.pb").exists():
        proto = onnx.TensorProto()
        proto.ParseFromString(file.read_bytes())
        arrays.append(numpy_helper.to_array(proto))
    return arrays


def close(got, expected, rtol=1e-3, atol=1e-5):
    if len(got) != len(expected):
        return f"{len(got)} outputs instead of {len(expected)}"
    for i, (a, b) in enumerate(zip(got, expected)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {i} is {a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
        if a.dtype.kind in "fc" and not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return f"output {i} differs by {np.nanmax(np.abs(a.astype(float) - b.astype(float)))}"
        if a.dtype.kind not in "fc" and not np.array_equal(a, b):
            return f"output {i} differs"
    return None
