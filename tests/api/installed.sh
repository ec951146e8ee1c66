#!/usr/bin/env bash
# installed.sh BUILD SOURCE VIRIDIAN: installs the library into an empty folder, builds the examples against it and runs
# them on a small network of the zoo.
set -euo pipefail
build=$1 source=$2 viridian=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
"$viridian" zoo squeezenet1_1 -o "$work/net.onnx" >/dev/null

cmake -S "$source/examples/cpp" -B "$work/cpp" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/cpp.log" 2>&1 &&
    cmake --build "$work/cpp" >>"$work/cpp.log" 2>&1 || { cat "$work/cpp.log"; exit 1; }
"$work/cpp/measure" | grep -E '^[0-9.e+-]+ J \['
"$work/cpp/optimize" "$work/net.onnx" >"$work/optimize.txt" || { cat "$work/optimize.txt"; exit 1; }
[ "$(grep -c '^ran$' "$work/optimize.txt")" = 8 ] || { cat "$work/optimize.txt"; exit 1; }

export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name viridian.pc)")
flags="-I$work/prefix/include -L$(dirname "$PKG_CONFIG_PATH")"
# Debian's minimal image has no pkg-config; its file is read here the way it would.
libraries=$(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/viridian.pc")
# shellcheck disable=SC2086
cc "$source/examples/c/run.c" -o "$work/run" $flags -lviridian $libraries -lm
"$work/run" "$work/net.onnx" 1 3 224 224 | grep -E '^output: '
