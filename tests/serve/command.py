#!/usr/bin/env python3
"""`viridian serve` as a user runs it, with the Python client, over counters that this script moves."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
try:
    import grpc
except ImportError:
    sys.exit("python3-grpcio is missing: tools/install_packages test")
from viridian_monitor import Monitor, pb  # noqa: E402

VIRIDIAN = sys.argv[1]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


class Hardware:
    """sysfs with a package and its dram; files are written in place, as long as before, so that no reader meets half."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram")):
            path = self.folder / "sys/class/powercap" / zone
            path.mkdir(parents=True)
            (path / "name").write_text(name + "\n")
            (path / "max_energy_range_uj").write_text("262143328850\n")
            self.set(zone, 262143328850 - 2_000_000)  # near its end: it will wrap

    def set(self, zone, value):
        with open(self.folder / "sys/class/powercap" / zone / "energy_uj", "r+b" if self.exists(zone) else "wb") as file:
            file.write(b"%015d\n" % value)

    def exists(self, zone):
        return (self.folder / "sys/class/powercap" / zone / "energy_uj").exists()


def serve(root, *options):
    environment = {**os.environ, "VIRIDIAN_ROOT": str(root)}
    return subprocess.Popen([VIRIDIAN, "serve", *options], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def refused(folder, words, *options):
    server = serve(folder, *options)
    out, err = server.communicate(timeout=60)
    lines = [line for line in err.splitlines() if line]
    check(server.returncode in (1, 2) and len(lines) == 1 and words in lines[0],
          f"{options} must say one sentence with `{words}`, said {server.returncode} {out!r} {err!r}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        hardware = Hardware(folder)
        address = f"unix:{folder}/monitor.sock"
        server = serve(folder, "--json", "--listen", address, "--metrics", "127.0.0.1:0")
        first, second = server.stderr.readline(), server.stderr.readline()
        check(address in first and "powercap" in first, f"says where it listens and what it reads: {first!r}")
        url = second.split()[-1]

        # Epochs of two sessions at once: joules between marks are what was put there, across the wrap.
        monitor = Monitor(address)
        package = 262143328850 - 2_000_000
        with monitor.session(name="outer") as outer, monitor.session(name="inner", process=0, hold=False) as inner:
            for epoch in range(5):
                package = (package + 1_500_000 + epoch) % 262143328850
                hardware.set("intel-rapl:0", package)
                spent = outer.mark(f"epoch {epoch}")
                check(abs(spent.joules - (1.5 + epoch * 1e-6)) < 1e-9 and spent.label == f"epoch {epoch}",
                      f"epoch {epoch} has {spent.joules} J")
                check(spent.provenance == "measured:powercap" and spent.end_ns > spent.begin_ns, "provenance and times")
            check(not spent.complete and any("dram" in w for w in spent.warnings), "dram did not move, and it says so")
            check(abs(inner.mark().joules - (7.5 + 10e-6)) < 1e-9, "the other session saw all of it")
            batch = next(iter(outer.stream(20.0)))
            check(len(batch.samples) > 0, "a stream brings samples")
        check(abs(outer.whole.joules - (7.5 + 10e-6)) < 1e-9, "the whole is the sum of its epochs")
        try:
            outer.mark()
            check(False, "a stopped session is gone")
        except grpc.RpcError as error:
            check(error.code() == grpc.StatusCode.NOT_FOUND, f"gone is NOT_FOUND, was {error.code()}")

        text = urllib.request.urlopen(url, timeout=20).read().decode()
        check('viridian_joules_total{device="cpu:0",scope="package"' in text, "Prometheus has joules")
        check("viridian_sessions 0" in text and "viridian_sessions_started_total 2" in text, "and sessions")

        # A Python client that is killed in the middle of an epoch.
        orphan = subprocess.Popen([sys.executable, "-c",
                                   "import sys, time; sys.path.insert(0, sys.argv[1])\n"
                                   "from viridian_monitor import Monitor\n"
                                   "with Monitor(sys.argv[2]).session(lease_seconds=1) as s:\n"
                                   "    s.mark(); print('marked', flush=True); time.sleep(600)",
                                   str(ROOT / "python"), address], stdout=subprocess.PIPE, text=True)
        check(orphan.stdout.readline() == "marked\n", "the client works until it is killed")
        orphan.kill()
        orphan.wait()
        while "viridian_sessions 0" not in urllib.request.urlopen(url, timeout=20).read().decode():
            pass

        refused(folder, "is taken", "--listen", address)
        refused(folder, "is taken", "--listen", "127.0.0.1:0", "--metrics", url.split("/")[2])
        refused(folder, "--open-to-others", "--listen", "0.0.0.0:0")
        refused(folder, "not an address", "--listen", "nonsense")
        refused(folder, "does not exist", "--listen", f"unix:{folder}/none/s")
        refused(folder, "no meter `thermometer`", "--meter", "thermometer", "--listen", "127.0.0.1:0", "--no-metrics")
        if os.geteuid() != 0:
            refused(folder, "does not let you", "--listen", "127.0.0.1:80", "--no-metrics")

        held = monitor.session(hold=True).__enter__()  # one is still open
        check(held.id, "a session while the server ends")
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
        answer = json.loads(out)
        check(server.returncode == 0 and err == "", f"Ctrl-C ends it cleanly: {server.returncode} {err!r}")
        check(answer["sessions_started"] == 4 and answer["sessions_open"] == 1 and answer["sessions_expired"] == 1,
              f"and it tells what was: {answer}")
        check(not pathlib.Path(folder, "monitor.sock").exists(), "its socket is gone")
        check(pb.Epoch().joules == 0.0, "messages")
    print("serve.command: ok")


main()
