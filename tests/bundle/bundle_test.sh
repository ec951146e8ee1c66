#!/usr/bin/env bash
# bundle_test.sh VIRIDIAN FAKE_NVML: makes the bundle, runs it under `env -i`, then in an empty root where files that are
# no libraries stand in the places of the C and C++ libraries: if the bundle touched one of them it would fail.
set -euo pipefail
viridian=$(realpath "$1") fake=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

VIRIDIAN=$viridian tools/bundle "$work/bundle.tar.gz" >"$work/made"
[ "$(stat -c %s "$work/bundle.tar.gz")" -le 60000000 ] || fail "larger than 60 MB"
mkdir -p "$work/a b" "$work/root"
tar -C "$work/a b" -xzf "$work/bundle.tar.gz"
home=$(echo "$work/a b"/viridian-*)
cmp -s <(tar -tzf "$work/bundle.tar.gz" | sort) <(tar -tzf "$work/bundle.tar.gz" | sort -u) || fail "a file twice"

# By a link from elsewhere, a folder with a blank in its name, no environment at all.
ln -s "$home/viridian" "$work/link"
cd "$work"
clean() { env -i HOME="$work" "$@"; }
clean ./link doctor >doctor || fail "doctor"
grep -q '^+ meter model' doctor || fail "doctor says nothing of meters"
clean ./link zoo squeezenet1_1 -o net.onnx >zoo || fail "zoo"
clean ./link run net.onnx --json >run.json || fail "run"
[ -x "$home/share/viridian/on_device/instrument" ] || fail "what measures a GPU is not in it"
clean ./link record --cupti -o cupti -- true >cupti.out 2>&1 || { cat cupti.out; fail "record --cupti"; }
grep -q 'no process used CUDA' cupti.out || { cat cupti.out; fail "record --cupti does not find its library"; }
newest=$(objdump -T "$home/lib/libviridian_cupti.so" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1)
[ "$(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -1)" = GLIBC_2.34 ] || fail "the library for other programs asks for $newest"
python=$(command -v python3 || true)
if [ -n "$python" ]; then  # what it starts uses the machine's own libraries
    clean ./link record -o recorded -- "$python" -c 'import sys; sys.exit(5)' >/dev/null 2>&1 && fail "record hides the exit code"
    [ -s recorded/power.csv ] || fail "record wrote nothing"
fi

unshare -r -m -p -f --mount-proc true 2>/dev/null || { echo "no user namespaces here: the empty root is not tried"; exit 77; }
mkdir -p root/opt root/bin root/proc root/sys root/tmp root/lib64 root/lib/x86_64-linux-gnu root/usr/lib64 root/usr/lib/x86_64-linux-gnu
cp -R "$home" root/opt/viridian
cp net.onnx root/tmp/
cp "$(command -v dash || command -v sh)" root/bin/sh
cp "$fake" root/usr/lib64/libnvidia-ml.so.1
for name in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 libpthread.so.0 libdl.so.2 libz.so.1; do
    for place in lib64 lib/x86_64-linux-gnu usr/lib/x86_64-linux-gnu; do echo "not a library" >"root/$place/$name"; done
done
bare() {  # the shell has no libraries of its own there: the bundle's loader starts it
    env -i HOME=/tmp VIRIDIAN_FAKE_NVML=gpus=2 unshare -r -m -p -f --root="$work/root" --mount-proc /opt/viridian/lib/loader \
        --library-path /opt/viridian/lib /bin/sh "$@"
}
bare /opt/viridian/viridian --version >version || fail "does not start in an empty root"
bare /opt/viridian/viridian doctor >doctor.bare || fail "doctor in an empty root"
grep -q '^+ meter nvml .*2 GPUs' doctor.bare || { cat doctor.bare; fail "the driver's library of the machine was not loaded"; }
bare /opt/viridian/viridian zoo squeezenet1_1 -o /tmp/zoo.onnx >/dev/null || fail "zoo in an empty root"
bare /opt/viridian/viridian run /tmp/net.onnx --json >run.bare.json || fail "run in an empty root"
[ "$(cd "$home" && clean ./viridian --version)" = "$(cat version)" ] || fail "does not start by a relative path"
cat made
