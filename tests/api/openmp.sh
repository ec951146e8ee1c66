#!/usr/bin/env bash
# openmp.sh BUILD SOURCE VIRIDIAN: no OpenMP is used by what we built, except by oneDNN; and a program with OpenMP of its own
# runs a model, whichever library the dynamic linker meets first (viridian/execute/cpu/pool/openmp.hpp).
set -euo pipefail
build=$1 source=$2 viridian=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$viridian" "$build/libviridian.so"; do
    used=$(nm -D --undefined-only "$file" | grep -E ' (GOMP_|omp_|__kmpc_)' || true)
    [ -z "$used" ] || { printf '%s uses OpenMP:\n%s\n' "$file" "$used"; exit 1; }
    ! readelf -d "$file" | grep -E 'NEEDED.*lib(gomp|omp|iomp5)\.' || { echo "$file needs an OpenMP library"; exit 1; }
done
"$viridian" zoo squeezenet1_1 -o "$work/net.onnx" >/dev/null

program() {  # program NAME LIBRARY...: the libraries are searched in this order
    local name=$1
    shift
    cc -fopenmp "$source/tests/api/openmp/program.c" -I"$source" -L"$build" -Wl,-rpath,"$build" -Wl,--no-as-needed "$@" -o "$work/$name"
    printf '%s: ' "$name"
    "$work/$name" "$work/net.onnx" 2
}
program ours_first -lviridian
program openmp_first -lgomp -lviridian
# A program that shows the static library's functions, and one whose oneDNN is loaded before our library.
# shellcheck disable=SC2086
program static "$build/libviridian.a" $(sed -n 's/^Libs.private: //p' "$build/viridian.pc") -lm
program onednn_first -lgomp -ldnnl -lviridian
