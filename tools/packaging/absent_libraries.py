#!/usr/bin/env python3
"""absent_libraries.py LIBRARY --into FOLDER: a library in place of OpenCL and OpenMP, as absent.c and absent.map.

Debian's oneDNN is linked with an OpenCL loader, which only its kernels of GPUs call, and with GCC's OpenMP, whose place the
extension module takes (viridian/execute/cpu/pool/openmp.hpp). A wheel that carried both would bring a second OpenMP, and a
loader of drivers, into every process that imports it. It carries a library of a few functions in their place: the functions
of OpenMP run what they are given on the calling thread, and those of OpenCL answer that there is no device.

LIBRARY is a libdnnl.so: what it takes of the two is what the library has, under the same versions."""
import argparse
import pathlib
import re
import subprocess
import sys

OPENMP = {
    "GOMP_parallel": "void GOMP_parallel(void (*body)(void*), void* data, unsigned n, unsigned f) { (void)n; (void)f; body(data); }",
    "GOMP_barrier": "void GOMP_barrier(void) {}",
    "omp_get_max_threads": "int omp_get_max_threads(void) { return 1; }",
    "omp_get_num_threads": "int omp_get_num_threads(void) { return 1; }",
    "omp_get_thread_num": "int omp_get_thread_num(void) { return 0; }",
    "omp_in_parallel": "int omp_in_parallel(void) { return 0; }",
}
NO_PLATFORM = -1001  # CL_PLATFORM_NOT_FOUND_KHR
RETURN_POINTERS = re.compile("^cl(Create|GetExtension)")  # functions that return a handle or an address: null


def wanted(library):
    """Symbols that `library` takes from the libraries, by their version."""
    table = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for version, symbol in re.findall(r"\*UND\*\s+\S+\s+\(((?:OPENCL|GOMP|OMP)_[0-9.]+)\)\s+(\S+)", table):
        found.setdefault(version, []).append(symbol)
    return found


def source(symbol):
    if symbol in OPENMP:
        return OPENMP[symbol]
    if not symbol.startswith("cl"):
        sys.exit(f"absent_libraries.py: `{symbol}` has no stand-in. add it to OPENMP in this script.")
    if RETURN_POINTERS.match(symbol):
        return f"void* {symbol}(void) {{ return 0; }}"
    return f"int {symbol}(void) {{ return {NO_PLATFORM}; }}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--into", type=pathlib.Path, required=True)
    options = parser.parse_args()
    versions = wanted(options.library)
    if not versions:
        sys.exit(f"absent_libraries.py: `{options.library}` takes nothing from OpenCL or OpenMP. pack it as it is.")
    lines = [source(symbol) for symbols in versions.values() for symbol in sorted(symbols)]
    (options.into / "absent.c").write_text("\n".join(lines) + "\n")
    blocks = [f"{version} {{ global: {' '.join(symbol + ';' for symbol in sorted(symbols))} }};" for version, symbols in versions.items()]
    (options.into / "absent.map").write_text("\n".join(blocks) + "\n")


main()
