#!/usr/bin/env bash
# bundle.sh SOURCE PACKAGES: in a root with nothing else, the archive runs where it was unpacked, install.sh puts it into
# /usr/local and into a user's own folder, and takes it out again without leaving anything.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
cd "$(mktemp -d)"
chmod 755 .
tar xzf "$2"/viridian-*-linux-x86_64.tar.gz
home=$(echo "$PWD"/viridian-*)
"$home/viridian" doctor | tail -5

tried() {  # tried PROGRAM: makes and runs a network
    "$1" zoo squeezenet1_1 -o "$2/net.onnx" >/dev/null && "$1" run "$2/net.onnx" --rounds 3
}
find /usr/local -type f -o -type l | sort >before
"$home/install.sh"
hash -r
[ "$(command -v viridian)" = /usr/local/bin/viridian ] || fail "install.sh did not install into /usr/local"
mkdir work && tried viridian work
viridian record --cupti -o recorded -- true >record.log 2>&1 || true
grep -q 'no process used CUDA' record.log || { cat record.log; fail "record --cupti does not find its library"; }
[ -s /usr/local/share/man/man1/viridian-optimize.1 ] || fail "no manual pages"
"$home/install.sh" >/dev/null || fail "does not install twice"
/usr/local/lib/viridian/install.sh --uninstall
find /usr/local -type f -o -type l | sort >after
cmp -s before after || { diff before after; fail "files are left"; }

useradd --create-home somebody
su somebody -c "'$home/install.sh' --prefix /usr" 2>refused && fail "a user installed into /usr"
grep -q 'cannot be written. give --prefix' refused || { cat refused; fail "the refusal names no next step"; }
su somebody -c "'$home/install.sh'"
su somebody -c 'cd && ~/.local/bin/viridian --version'
touch /usr/local/bin/viridian
"$home/install.sh" 2>refused && fail "overwrote another program"
grep -q 'was not made by this script' refused || { cat refused; fail "the refusal does not say why"; }
echo "bundle: installed for everybody and for one user, tried and removed"
