#!/usr/bin/env python3
"""root_of_commands.py VIRIDIAN: optimize, profile and run look for meters below VIRIDIAN_ROOT, as docs/cli.md says.

A powercap tree of our own has one package, whose counter rises by 5 W whatever runs. On a machine without a meter, and on one with
another meter, only this tree gives measured joules of 5 W."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

VIRIDIAN, WATTS = sys.argv[1], 5.0


class FakePackage:
    """A tree with one package; its counter is renewed every half millisecond until the block ends."""

    def __init__(self, root):
        zone = root / "sys/class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        for name, text in (("name", "package-0\n"), ("max_energy_range_uj", "262143328850\n"), ("energy_uj", f"{0:020}\n")):
            (zone / name).write_text(text)
        self.file, self.ends = os.open(zone / "energy_uj", os.O_WRONLY), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        begin = time.monotonic()
        while not self.ends.wait(0.0005):
            os.pwrite(self.file, b"%020d\n" % int(1e6 * WATTS * (time.monotonic() - begin) + 1e9), 0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        os.close(self.file)


def called(*words, **environment):
    done = subprocess.run([VIRIDIAN, *map(str, words)], capture_output=True, text=True, check=False,
                          env={**{k: v for k, v in os.environ.items() if not k.startswith("VIRIDIAN_")}, **environment})
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


def meters_in(database):
    """The meters whose joules a database holds."""
    with sqlite3.connect(database) as connection:
        return sorted(name for name, in connection.execute("select distinct meter from energy"))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HOME"] = name
        model = folder / "mlp.onnx"
        called("zoo", "mlp", "-o", model)
        root = {"VIRIDIAN_ROOT": str(folder / "root")}
        one = ["--threads", 1, "--no-pin", "-q"]
        with FakePackage(folder / "root"):
            called("profile", model, "--db", folder / "profile.db", *one, **root)
            assert meters_in(folder / "profile.db") == ["powercap cpu:0"], meters_in(folder / "profile.db")

            plan = folder / "mlp.opt.onnx"
            result = json.loads(called("optimize", model, "-o", plan, "--db", folder / "optimize.db", "--search", "none", "--proofs", 1,
                                       "--json", *one, **root))
            assert meters_in(folder / "optimize.db") == ["powercap cpu:0"], meters_in(folder / "optimize.db")
            ran = result["optimized"]["ran"]
            assert ran["joules"]["provenance"] == "measured:powercap", ran
            watts = ran["joules"]["value"] / ran["seconds"]
            assert 0.8 * WATTS < watts < 1.2 * WATTS, f"the tree draws {WATTS} W, optimize counted {watts}"

            called("run", model, "--retune", "--db", folder / "run.db", *one, **root)
            assert meters_in(folder / "run.db") == ["powercap cpu:0"], meters_in(folder / "run.db")
            called("run", folder / "mlp.opt.plan.json", "--account", folder / "account.json", "--db", folder / "run.db", "-q", **root)
            account = (folder / "account.json").read_text()
            assert "powercap" in account and "estimated" not in account, account[:2000]

        # Without that root, or with the model asked for, no joules of this tree are met.
        called("profile", model, "--db", folder / "model.db", "--meter", "model", *one, **root)
        assert meters_in(folder / "model.db") == [], meters_in(folder / "model.db")
    print("optimize, profile and run metered the tree below VIRIDIAN_ROOT")


if __name__ == "__main__":
    main()
