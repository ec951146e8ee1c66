# For scripts to source: folders that hold a new Debian 12 of their own ("clean roots"), with its minimal packages and
# nothing of this machine. Debian's servers are those that this machine's apt uses.
#
# VIRIDIAN_ROOTS (build/roots) keeps the archive of the minimal system, which every root is unpacked from, and the Debian
# packages that were fetched.
: "${VIRIDIAN_ROOTS:=build/roots}"
# The certificates that this machine trusts, in a root: a file that Debian's package ca-certificates does not write anew.
certificates=/etc/ssl/machine.crt
# Folders of this machine that programs in a root see: FROM:TO each.
root_binds=()

# roots_missing: says in one sentence why no root can be made here; nothing if it can.
roots_missing() {
    if [ "$(id -u)" -ne 0 ]; then echo "only root may make a root folder"
    elif ! command -v debootstrap >/dev/null; then echo "debootstrap is not installed"
    elif ! unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null; then echo "no right to mount"
    fi
}

# debian_sources: what this machine's apt reads of Debian, as lines of sources.list.
debian_sources() {
    apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 'Origin: Debian' | sort -u
}

# new_root FOLDER: unpacks a minimal Debian 12 into FOLDER, which must not exist. The first one is fetched.
new_root() {
    local archive=$VIRIDIAN_ROOTS/bookworm.tar work site
    if [ ! -f "$archive" ]; then
        site=$(debian_sources | awk '$3 == "bookworm" {print $2; exit}')
        mkdir -p "$VIRIDIAN_ROOTS"
        work=$(mktemp -d "$(realpath "$VIRIDIAN_ROOTS")/new.XXXXXX")
        # shellcheck disable=SC2086
        debootstrap --variant=minbase bookworm "$work" $site >"$VIRIDIAN_ROOTS/debootstrap.log" 2>&1 ||
            { tail -3 "$VIRIDIAN_ROOTS/debootstrap.log"; rm -rf "$work"; return 1; }
        debian_sources >"$work/etc/apt/sources.list"
        echo force-unsafe-io >"$work/etc/dpkg/dpkg.cfg.d/unsafe-io"  # nobody needs these files after a loss of power
        tar -C "$work" --one-file-system -cf "$archive.part" . && mv "$archive.part" "$archive"
        rm -rf "$work"
    fi
    mkdir -p "$1" && tar -C "$1" -xpf "$archive" && chmod 755 "$1" || return 1
    # How this machine reaches servers.
    cp -L /etc/resolv.conf "$1/etc/"
    mkdir -p "$1/etc/ssl"
    [ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$1$certificates"
    [ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$1/etc/"
}

# inside ROOT COMMAND...: runs COMMAND in the root, with mounts and processes of its own, which end with it. Of this
# machine's environment it gets how to reach servers, how many jobs to run, and the time that archives are dated with.
inside() {
    local root=$1 name given=()
    shift
    [ ! -f "$root$certificates" ] || given+=("PIP_CERT=$certificates" "SSL_CERT_FILE=$certificates")
    for name in $(compgen -e | grep -E '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)$|CCACHE_|JOBS$|CMAKE_BUILD_PARALLEL_LEVEL$|SOURCE_DATE_EPOCH$|https?_proxy$|no_proxy$)'); do
        given+=("$name=${!name}")
    done
    unshare --mount --pid --fork --kill-child bash -c '
        root=$1 count=$2
        shift 2
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        for _ in $(seq "$count"); do
            mkdir -p "$root${1#*:}"
            mount --bind "${1%%:*}" "$root${1#*:}"
            shift
        done
        exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
            TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"
    ' inside "$root" ${#root_binds[@]} "${root_binds[@]}" "${given[@]}" "$@"
}

# install_into ROOT PACKAGE...: Debian's packages, or .deb files named by their path in the root, without what they recommend.
install_into() {
    local root=$1 archives
    shift
    archives=$(realpath "$VIRIDIAN_ROOTS")/archives
    mkdir -p "$archives/partial"
    local root_binds=("${root_binds[@]}" "$archives:/var/cache/apt/archives")
    inside "$root" sh -c 'apt-get update && apt-get install -y --no-install-recommends "$@"' sh "$@" >"$root/install.log" 2>&1 ||
        { tail -3 "$root/install.log"; return 1; }
}

# copy_source ROOT: the files of this repository, at the path that they have here, so that a compiler cache knows them.
copy_source() {
    mkdir -p "$1$PWD"
    git ls-files -z --cached --others --exclude-standard | tar c --null --ignore-failed-read -T - 2>/dev/null | tar x -C "$1$PWD"
}

# packages_of GROUP...: the names in these groups of tools/packages.txt.
packages_of() {
    local group
    for group in "$@"; do
        awk -v g="[$group]" '/^#/ {next} /^\[/ {on = ($0 == g); next} on && NF' tools/packages.txt
    done
}
