#!/usr/bin/env bash
# threads.sh BUILD SOURCE VIRIDIAN: builds examples/cpp/optimize.cpp with clang's thread sanitizer against the library of the
# folder BUILD, which has it too, and lets it optimise a network, run it from eight threads and compare the outputs. The
# sanitizer ends it at the first data race. VIRIDIAN is a program that writes the network; it needs no sanitizer.
set -euo pipefail
build=$1 source=$2 viridian=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
cmake --install "$build" --component library --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake -S "$source/examples/cpp" -B "$work/cpp" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_FLAGS="-fsanitize=thread -g1" >"$work/log" 2>&1 &&
    cmake --build "$work/cpp" --target optimize >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$viridian" zoo squeezenet1_1 -o "$work/net.onnx" >/dev/null
"$work/cpp/optimize" "$work/net.onnx"
