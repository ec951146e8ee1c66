#!/usr/bin/env bash
# configures_test.sh: in a new Debian 12 that has the packages of [build] alone, CMake configures the program and says that
# it leaves all tests out; with GoogleTest beside them, it says which tests lack what. On this machine, which has every
# package, nothing is left out. Skipped (77) where no such root can be made: without root's rights, debootstrap, or Debian's
# servers.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "not tried: $*"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t every < <(awk '/^#/ {next} /^\[/ {on = ($0 == "[build]" || $0 == "[test]"); next} on && NF' tools/packages.txt)
dpkg-query -W "${every[@]}" >/dev/null 2>&1 || skip "this machine lacks packages that \`make test\` installs"
cmake -S . -B "$work/all" -G Ninja >"$work/log" 2>&1 || { cat "$work/log"; fail "does not configure with every package"; }
! grep 'Left out' "$work/log" || fail "leaves out what could be built"
rm -rf "$work"

[ "$(id -u)" -eq 0 ] || skip "only root may make a root folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
site=$(apt-get indextargets --format '$(SITE)' 'Label: Debian' 2>/dev/null | head -1)
work=$(mktemp -d)
root=$work/root
leave() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap leave EXIT
debootstrap --variant=minbase bookworm "$root" "${site:-http://deb.debian.org/debian}" >"$work/log" 2>&1 ||
    { tail -3 "$work/log"; skip "debootstrap failed"; }
cp -rT /etc/apt "$root/etc/apt"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc" 2>/dev/null || skip "no right to mount"
mkdir "$root/source"
git ls-files -z --cached --others --exclude-standard | tar c --null -T - | tar x -C "$root/source"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
install() {
    inside bash -c "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*" \
        >"$work/log" 2>&1 || { tail -3 "$work/log"; skip "packages cannot be fetched"; }
}
configured() {  # configured NAME: what CMake says in the root
    inside cmake -S /source -B "/build-$1" -G Ninja >"$work/$1" 2>&1 || { cat "$work/$1"; fail "does not configure: $1"; }
}

mapfile -t build < <(awk '/^#/ {next} /^\[/ {on = ($0 == "[build]"); next} on && NF' tools/packages.txt)
install "${build[@]}"
configured build_alone
grep -q 'Left out: all tests (install libgtest-dev libgmock-dev)' "$work/build_alone" || fail "does not say that tests are left out"

install libgtest-dev libgmock-dev
configured with_googletest
! grep -q 'Left out: all tests' "$work/with_googletest" || fail "does not find GoogleTest"
grep -q 'Left out: .*liblemon-dev' "$work/with_googletest" || fail "does not say what lacks LEMON"
inside ninja -C /build-with_googletest -n viridian >/dev/null || fail "the program cannot be built"
grep 'Left out' "$work/with_googletest"
