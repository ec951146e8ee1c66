#!/usr/bin/env python3
"""`viridian serve` as a user runs it, with the Python client, over counters that this script moves."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
try:
    import grpc
except ImportError:
    sys.exit("python3-grpcio is missing: tools/install_packages test")
from viridian_monitor import Monitor, NoMonitor, default_target, pb  # noqa: E402

import exposition  # noqa: E402

VIRIDIAN = sys.argv[1]


def nobody_answers():
    try:
        Monitor("unix:/nonexistent/monitor.sock").session(hold=False).__enter__()
    except NoMonitor as error:
        return "no monitor answers at unix:/nonexistent/monitor.sock. start one with `viridian serve`" in str(error)
    return False


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


class Hardware:
    """sysfs with a package and its dram; files are written in place, as long as before, so that no reader meets half."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "proc").symlink_to("/proc")
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


def serve(root, *options, **variables):
    environment = {**os.environ, "VIRIDIAN_ROOT": str(root), **variables}
    return subprocess.Popen([VIRIDIAN, "serve", *options], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def refused(folder, words, *options, **variables):
    server = serve(folder, *options, **variables)
    out, err = server.communicate(timeout=60)
    lines = [line for line in err.splitlines() if line]
    check(server.returncode in (1, 2) and len(lines) == 1 and words in lines[0],
          f"{options} must say one sentence with `{words}`, said {server.returncode} {out!r} {err!r}")


def get(url, header=None):
    """The status and the text of a page."""
    request = urllib.request.Request(url, headers={"Authorization": header} if header else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def check_tcp(folder):
    """gRPC over TCP: the token's file is made, and nobody is answered without the token."""
    token_file = pathlib.Path(folder, "tcp.token")
    server = serve(folder, "--listen", "127.0.0.1:0", "--token-file", str(token_file), "--allow-fast-periods")
    address = server.stderr.readline().split()[2]
    check(token_file.stat().st_mode & 0o7777 == 0o600, "only its owner can read the token")
    with Monitor(address, token_file=token_file).session(name="with the file", period_ms=0.5) as session:
        check(session.id, "a session with the token, and fast periods where they were allowed")
    with Monitor(address, token=token_file.read_text().strip()).session(hold=False) as session:
        check(session.mark().seconds > 0.0, "a session with the token as text")
    for wrong in (None, "0" * 64):
        code = code_of(Monitor(address, token=wrong).session().__enter__)
        check(code == grpc.StatusCode.UNAUTHENTICATED, f"without the token: {code}")
    server.send_signal(signal.SIGINT)
    check(server.wait(timeout=60) == 0, "it ends")


def check_refusals(folder, address, url, token_file):
    """What a second server is told, while one listens at `address` and serves its page at `url`."""
    token = ("--token-file", str(token_file))
    refused(folder, "is taken", "--listen", address)
    refused(folder, "is taken", "--listen", f"unix:{folder}/2", "--metrics", url.split("/")[2], *token)
    refused(folder, "--open-to-others", "--listen", "0.0.0.0:0")
    refused(folder, "--token-file", "--listen", "0.0.0.0:0", "--open-to-others")
    refused(folder, "--token-file", "--listen", "127.0.0.1:0")
    refused(folder, "not an address", "--listen", "nonsense")
    refused(folder, "does not exist", "--listen", f"unix:{folder}/none/s")
    refused(folder, "no meter `thermometer`", "--meter", "thermometer", "--listen", f"unix:{folder}/2")
    token_file.chmod(0o644)
    refused(folder, "chmod 600", "--listen", "127.0.0.1:0", *token)
    if os.geteuid() != 0:
        refused(folder, "does not let you", "--listen", "127.0.0.1:80", "--token-file", f"{folder}/other.token")
        refused(folder, "XDG_RUNTIME_DIR", XDG_RUNTIME_DIR="")
        private = pathlib.Path(folder, "runtime")
        private.mkdir(mode=0o700)
        second = serve(folder, XDG_RUNTIME_DIR=str(private))
        check(f"unix:{private}/viridian.sock" in second.stderr.readline(), "the default is the user's own socket")
        second.send_signal(signal.SIGINT)
        check(second.wait(timeout=60) == 0, "it ends")


def main():
    with tempfile.TemporaryDirectory() as folder:
        hardware = Hardware(folder)
        address = f"unix:{folder}/monitor.sock"
        token_file = pathlib.Path(folder, "monitor.token")
        server = serve(folder, "--json", "--listen", address, "--metrics", "127.0.0.1:0", "--token-file", str(token_file))
        first, second = server.stderr.readline(), server.stderr.readline()
        check(address in first and "powercap" in first, f"says where it listens and what it reads: {first!r}")
        url = second.split()[-1]
        bearer = f"Bearer {token_file.read_text().strip()}"
        check(os.stat(f"{folder}/monitor.sock").st_mode & 0o7777 == 0o600, "only its owner can connect to the socket")

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

        code = code_of(monitor.session(period_ms=0.5).__enter__)
        check(code == grpc.StatusCode.INVALID_ARGUMENT, f"a period below 1 ms has to be allowed: {code}")

        for wrong in (None, "Bearer " + "0" * 64):
            status, text = get(url, wrong)
            check(status == 401 and "--token-file" in text and "joules" not in text, f"no page without the token: {text}")
        status, text = get(url, bearer)
        check(status == 200, f"the page with the token: {status}")
        check('viridian_energy_joules_total{device="cpu:0",scope="package"' in text, "Prometheus has joules")
        page = exposition.families(text)
        ended = {dict(key)["session"]: value for key, value in page["viridian_session_epochs_total"].series.items()}
        check(ended == {"outer": 6, "inner": 2}, f"ended sessions stay for a while: {ended}")
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
        while "viridian_sessions 0" not in get(url, bearer)[1]:
            pass

        check_tcp(folder)
        check(nobody_answers(), "a client without a monitor says what to do")
        check(default_target(0, "") == "unix:/run/viridian/monitor.sock" and
              default_target(1000, "/run/user/1000") == "unix:/run/user/1000/viridian.sock", "where clients look first")

        check_refusals(folder, address, url, token_file)
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
