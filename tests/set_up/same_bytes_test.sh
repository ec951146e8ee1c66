#!/usr/bin/env bash
# same_bytes_test.sh: two builds in two folders give the same bytes. Of the rooms with generated sources (serve: gRPC;
# report: pages) and of base, which knows the build's identity; without a compiler cache, which would hide a difference.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CCACHE_DISABLE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=(viridian_base viridian_report viridian_serve)
for folder in "$work/one" "$work/another with blanks"; do
    mkdir -p "$folder"
    git ls-files -z --cached --others --exclude-standard | tar c --null -T - | tar x -C "$folder"
    cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVIRIDIAN_TESTS=OFF >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
    cmake --build "$folder/build" -j "$(nproc)" --target "${libraries[@]}" >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
done
for library in "${libraries[@]}"; do
    one=$(find "$work/one/build" -name "lib$library.a")
    cmp "$one" "${one/#"$work/one"/"$work/another with blanks"}" || { echo "FAILED: $library differs" >&2; exit 1; }
    ! grep -q "$work" "$one" || { echo "FAILED: $library names the folder it was built in" >&2; exit 1; }
done
