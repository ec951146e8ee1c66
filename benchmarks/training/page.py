"""Pages of results: what was measured, on which machine, by which command, in a form that nobody edits."""
import datetime
import pathlib
import shlex
import subprocess
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS / "peers")]
from setting import machine, table_of  # noqa: E402
from tables import table  # noqa: E402, F401 (the scripts use it as page.table)


def version(viridian):
    """Returns the versions of the program and of its kernels, as --version prints them."""
    return subprocess.run([viridian, "--version"], capture_output=True, text=True).stdout.split("\n")[0]


def settings(viridian, versions, more=()):
    """The rows that every page has. `versions`: text about the peers; `more`: pairs."""
    given = [pathlib.Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]  # folders of one machine say nothing
    command = shlex.join(["benchmarks/training/" + pathlib.Path(sys.argv[0]).name, *given])
    return table_of([("date", datetime.datetime.now(datetime.timezone.utc).strftime("%-d %B %Y, %H:%M UTC")), ("machine", machine()),
                     ("command", f"`{command}`"), ("versions", f"{version(viridian)}, {versions}"), *more])


def write(path, title, *parts):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([f"# {title}", *parts]) + "\n")
