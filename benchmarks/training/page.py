"""Pages of results: what was measured, on which machine, by which command, in a form that nobody edits."""
import pathlib
import subprocess
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS / "peers")]
from setting import command, machine, table_of, today  # noqa: E402
from tables import table  # noqa: E402, F401 (the scripts use it as page.table)


def version(viridian):
    """Returns the versions of the program and of its kernels, as --version prints them."""
    return subprocess.run([viridian, "--version"], capture_output=True, text=True).stdout.split("\n")[0]


def settings(viridian, versions, more=()):
    """The rows that every page has. `versions`: text about the peers; `more`: pairs."""
    return table_of([("date", today()), ("machine", machine()), ("command", command()), ("versions", f"{version(viridian)}, {versions}"), *more])


def write(path, title, *parts):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([f"# {title}", *parts]) + "\n")
