#!/usr/bin/env bash
# lintian.sh SOURCE PACKAGES: lintian finds no error in the Debian packages.
set -euo pipefail
cd "$2"
useradd --create-home reader  # lintian warns of root
code=0
su reader -c "lintian --no-cfg $(echo ./*viridian*.deb)" >/tmp/found 2>&1 || code=$?
cat /tmp/found
[ $code = 0 ] || { echo "lintian ends with code $code (2: it found errors)"; exit 1; }
echo "$(lintian --version | head -1): no errors, $(grep -c '^W: ' /tmp/found || true) warnings"
