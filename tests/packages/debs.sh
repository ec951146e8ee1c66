#!/usr/bin/env bash
# debs.sh SOURCE PACKAGES: in a root with nothing else, apt installs the Debian packages with what they depend on, the
# program, the library from C and C++, and the Python package work, and nothing is left when they are removed.
set -euo pipefail
source=$1 packages=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
cd "$(mktemp -d)"
get() { apt-get install -y --no-install-recommends "$@" >apt.log 2>&1 || { tail -20 apt.log; fail "apt-get install $*"; }; }
apt-get update >/dev/null
find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path "/${source#/}" \) -prune -o -iname '*viridian*' -print >before
get "$packages"/viridian_*.deb
viridian --version
viridian doctor | tail -5
viridian zoo squeezenet1_1 -o net.onnx
viridian run net.onnx --rounds 3
viridian record --cupti -o recorded -- true >record.log 2>&1 || true
grep -q 'no process used CUDA' record.log || { cat record.log; fail "record --cupti does not find its library"; }
viridian record -o recorded2 -- python3 -c 'print(sum(range(10**6)))'
[ -s recorded2/power.csv ] || fail "record wrote nothing"
[ -s /usr/share/doc/viridian/examples/systemd/viridian.service ] || fail "the unit for systemd is missing"
viridian serve --metrics 127.0.0.1:19464 --token-file my.token >serve.log 2>&1 &
serving=$!
cat >scrape.py <<'PROGRAM'
import time, urllib.request
for attempt in range(100):
    try:
        request = urllib.request.Request("http://127.0.0.1:19464/metrics", headers={"Authorization": "Bearer " + open("my.token").read().strip()})
        page = urllib.request.urlopen(request).read().decode()
    except OSError:  # it is starting
        time.sleep(0.2)
        continue
    joules = [line for line in page.splitlines() if line.startswith("viridian_energy_joules_total{")]
    if joules:
        raise SystemExit(print(*joules, sep="\n"))
raise SystemExit("viridian serve told no joules")
PROGRAM
python3 scrape.py || { cat serve.log; fail "serve"; }
kill $serving && wait $serving || true
[ -s /usr/share/man/man1/viridian-optimize.1.gz ] && [ -s /usr/share/bash-completion/completions/viridian ] || fail "manual pages or completions are missing"

get "$packages"/libviridian0*.deb "$packages"/libviridian-dev_*.deb g++ cmake ninja-build pkg-config
cc "$source/examples/c/run.c" -o run $(pkg-config --cflags --libs viridian) -lm
./run net.onnx 1 3 224 224
cmake -S "$source/examples/cpp" -B cpp -G Ninja >cpp.log && cmake --build cpp >>cpp.log || { cat cpp.log; fail "find_package(viridian)"; }
cpp/measure

get "$packages"/python3-viridian_*.deb
python3 "$source/examples/python/measure.py"
python3 "$source/examples/python/session.py" net.onnx
python3 -c 'import importlib.metadata as m, viridian; assert m.version("viridian-energy") == viridian.__version__'
version=$(dpkg-query -W -f '${Version}' viridian)

apt-get purge -y viridian libviridian-dev 'libviridian0*' python3-viridian >apt.log 2>&1 || { tail apt.log; fail "apt-get purge"; }
find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path "/${source#/}" \) -prune -o -iname '*viridian*' -print >after
cmp -s before after || { diff before after; fail "files are left after the packages were removed"; }
echo "debs: version $version installed, tried and removed"
