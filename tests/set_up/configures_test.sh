#!/usr/bin/env bash
# configures_test.sh: in a new Debian 12 that has the packages of [build] alone, CMake configures the program and says that
# it leaves all tests out, and the tests of the Python package that python3-dev is missing; with GoogleTest beside them, it
# says which tests lack what. On this machine, which has every package, nothing is left out. Skipped (77) where no such root
# can be made: without root's rights, debootstrap, or Debian's servers.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "not tried: $*"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source tools/packaging/roots.sh
mapfile -t every < <(packages_of build test)
dpkg-query -W "${every[@]}" >/dev/null 2>&1 || skip "this machine lacks packages that \`make test\` installs"
cmake -S . -B "$work/all" -G Ninja >"$work/log" 2>&1 || { cat "$work/log"; fail "does not configure with every package"; }
! grep 'Left out' "$work/log" || fail "leaves out what could be built"
rm -rf "$work"

missing=$(roots_missing)
[ -z "$missing" ] || skip "$missing"
mkdir -p "$VIRIDIAN_ROOTS"
work=$(mktemp -d "$(realpath "$VIRIDIAN_ROOTS")/configures.XXXXXX")
root=$work/root
trap 'rm -rf "$work"' EXIT
new_root "$root" || skip "a new Debian cannot be fetched"
copy_source "$root"
install() { install_into "$root" "$@" || skip "packages cannot be fetched"; }
here() { inside "$root" env --chdir="$PWD" "$@"; }
configured() {  # configured NAME: what CMake says in the root
    here cmake -S . -B "/build-$1" -G Ninja >"$work/$1" 2>&1 || { cat "$work/$1"; fail "does not configure: $1"; }
}

mapfile -t build < <(packages_of build)
install "${build[@]}"
configured build_alone
grep -q 'Left out: all tests (install libgtest-dev libgmock-dev)' "$work/build_alone" || fail "does not say that tests are left out"
# python3 without what extension modules are built with: the tests of the Python package are skipped, with the reason.
here tools/python/environment --check >"$work/python" && fail "finds what the Python package needs, though python3-dev is missing"
grep -q 'python3-dev is not installed' "$work/python" || { cat "$work/python"; fail "does not say that python3-dev is missing"; }

install libgtest-dev libgmock-dev
configured with_googletest
! grep -q 'Left out: all tests' "$work/with_googletest" || fail "does not find GoogleTest"
grep -q 'Left out: .*liblemon-dev' "$work/with_googletest" || fail "does not say what lacks LEMON"
here ninja -C /build-with_googletest -n viridian >/dev/null || fail "the program cannot be built"
grep 'Left out' "$work/with_googletest"
