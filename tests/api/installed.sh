#!/usr/bin/env bash
# installed.sh BUILD SOURCE VIRIDIAN: installs the library into an empty folder, builds the examples against it and runs
# them on a small network of the zoo. The C++ examples have the shared library; the C example has each in turn.
set -euo pipefail
build=$1 source=$2 viridian=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
"$work/prefix/bin/viridian" record --cupti -o "$work/recorded" -- true >"$work/record.log" 2>&1 || true
grep -q 'no process used CUDA' "$work/record.log" || { cat "$work/record.log"; exit 1; }
[ -f "$work/prefix/share/viridian/on_device/torch_site/sitecustomize.py" ] || { echo "record --torch is not installed"; exit 1; }
for file in man/man1/viridian-account-diff.1 bash-completion/completions/viridian zsh/site-functions/_viridian \
    fish/vendor_completions.d/viridian.fish; do
    [ -s "$work/prefix/share/$file" ] || { echo "$file is not installed"; exit 1; }
done
"$viridian" zoo squeezenet1_1 -o "$work/net.onnx" >/dev/null

cmake -S "$source/examples/cpp" -B "$work/cpp" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/cpp.log" 2>&1 &&
    cmake --build "$work/cpp" >>"$work/cpp.log" 2>&1 || { cat "$work/cpp.log"; exit 1; }
"$work/cpp/measure" | grep -E '^[0-9.e+-]+ J \['
"$work/cpp/call" "$work/net.onnx" | grep -E "^output begins with "
"$work/cpp/optimize" "$work/net.onnx"  # it compares the outputs of eight threads

# Debian's minimal image has no pkg-config; its file is read here the way it would.
package=$(find "$work/prefix" -name viridian.pc)
prefix=$(sed -n 's/^prefix=//p' "$package" | sed "s|\${pcfiledir}|$(dirname "$package")|")
[ "$(realpath "$prefix")" = "$(realpath "$work/prefix")" ] || { echo "viridian.pc says its prefix is $prefix"; exit 1; }
field() { sed -n "s/^$1: //p" "$package" | sed "s|\${prefix}|$prefix|g"; }
folder=$(dirname "$(dirname "$package")")
run() {
    cc "$source/examples/c/run.c" -o "$work/run" "$@" -lm
    LD_LIBRARY_PATH=$folder "$work/run" "$work/net.onnx" 1 3 224 224 | grep -E '^output: '
}
# shellcheck disable=SC2046
{
    run $(field Cflags) $(field Libs)
    rm "$folder"/libviridian.so*
    run $(field Cflags) $(field Libs) $(field Libs.private)
}

# The shared library shows what the two headers declare and what oneDNN calls of OpenMP, and nothing of its rooms.
openmp='GOMP_(parallel|barrier)|omp_(get_(max_threads|num_threads|thread_num)|in_parallel)'
shown=$(nm -DC --defined-only "$build/libviridian.so" | cut -c20- | grep -vE "^(viridian::v1::|vd_|($openmp)\$)" || true)
[ -z "$shown" ] || { printf 'libviridian.so shows names that it does not promise:\n%s\n' "$shown" | head -20; exit 1; }
