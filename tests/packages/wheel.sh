#!/usr/bin/env bash
# wheel.sh SOURCE PACKAGES: in a root with Python 3.11 and nothing of ours, the wheel installs, imports within 0.3 s, runs
# examples, and plans a network with oneDNN's kernels though OpenCL and OpenMP are not there.
set -euo pipefail
source=$1 packages=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
cd "$(mktemp -d)"
for library in dnnl protobuf hwy OpenCL gomp; do
    ! ldconfig -p | grep -q "lib$library\.so" || fail "this root has lib$library: it proves nothing"
done
python3 -m venv environment
environment/bin/pip install --disable-pip-version-check "$packages"/viridian_energy-*-manylinux_2_34_x86_64.whl
python=environment/bin/python
for _ in 1 2 3 4 5; do
    "$python" -I -c 'import time; t = time.perf_counter(); import viridian; print(f"{time.perf_counter() - t:.3f}")'
done | sort -n >times
least=$(head -1 times)
"$python" -c 'import sys; sys.exit(float(sys.argv[1]) > 0.3)' "$least" || fail "\`import viridian\` takes $least s"
"$python" -m pip check
terms=$(echo environment/lib/python3*/site-packages/viridian/licenses)
[ -s "$terms/LICENSE" ] && [ -s "$terms/third_party/libdnnl2" ] || fail "the terms of the libraries are missing"

"$python" "$source/examples/python/measure.py"
environment/bin/pip install --disable-pip-version-check onnx
"$python" "$source/tests/packages/plan_with_wheel.py"
# oneDNN's calls of OpenMP go to the extension module, which runs them on Viridian's threads, not to the library that stands
# in OpenMP's place and runs them on one.
LD_DEBUG=bindings "$python" -c 'import viridian' 2>&1 | grep -E 'binding file [^ ]*libdnnl.* symbol .(GOMP|omp)_' >bindings || fail "oneDNN calls no OpenMP"
! grep -v 'to [^ ]*/_core' bindings || fail "oneDNN does not run on Viridian's threads"
echo "wheel: \`import viridian\` takes $least s (the shortest of five)"
