"""newest_conformance.py CONFORMANCE ARGUMENTS...: the conformance program over the test data of the installed onnx."""
import subprocess
import sys

from support import NEWEST

sys.exit(subprocess.run([*sys.argv[1:], str(NEWEST)]).returncode)
