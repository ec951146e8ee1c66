"""A scrape of the real `viridian serve`, over a made-up machine with a package, its dram, an idle GPU and two
containers, with a session,
and with a file of carbon factors."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/serve")]
import exposition  # noqa: E402

CONTAINERS = {"a" * 64: "system.slice/docker-{}.scope", "b" * 64: "kubepods/burstable/pod12345678-9abc-4def-8123-456789abcdef/{}"}


class Machine:
    """A folder with /sys and /proc as `viridian serve` reads them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
        self.seconds = 0
        for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram")):
            self.write(f"sys/class/powercap/{zone}/name", name + "\n")
            self.write(f"sys/class/powercap/{zone}/max_energy_range_uj", "262143328850\n")
        self.write("sys/class/hwmon/hwmon0/name", "amdgpu\n")
        self.write("sys/class/hwmon/hwmon0/power1_average", "0\n")
        self.work(1)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "r+b" if path.exists() else "wb") as file:  # in place, so that no reader meets an empty file
            file.write(text.encode())

    def work(self, seconds):
        """Time passes: 20 W and 2 W; half of the two CPUs is busy; the containers take 60 and 20 % of that."""
        self.seconds += seconds
        for zone, watts in (("intel-rapl:0", 20), ("intel-rapl:0:0", 2)):
            self.write(f"sys/class/powercap/{zone}/energy_uj", f"{watts * self.seconds * 1_000_000:015}\n")
        row = f"{100 * self.seconds:09} 0 0 {100 * self.seconds:09} 0 0 0\n"
        self.write("proc/stat", f"cpu  {row}cpu0 {row}intr 1\n")
        for (container, path), share in zip(CONTAINERS.items(), (0.6, 0.2)):
            self.write(f"sys/fs/cgroup/{path.format(container)}/cpu.stat", f"usage_usec {int(1e6 * share * self.seconds):012}\n")


def scrape(viridian):
    """The text of the second of two pages, between which a session had two epochs."""
    from viridian_monitor import Monitor
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        factors = pathlib.Path(folder, "grid.csv")
        factors.write_text("# pue 1.2\ntime,gco2e_per_kwh,source\n,360,a contract\n")
        token = pathlib.Path(folder, "token")
        server = subprocess.Popen([viridian, "serve", "--listen", f"unix:{folder}/s", "--metrics", "127.0.0.1:0", "--token-file",
                                   token, "--containers", "--carbon", factors], stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "VIRIDIAN_ROOT": folder})
        try:
            first, second = server.stderr.readline(), server.stderr.readline()
            if "metrics on " not in second:
                sys.exit(f"FAILED: the monitor does not serve: {first}{second}{server.stderr.read()}")
            request = urllib.request.Request(second.split()[-1],
                                             headers={"Authorization": f"Bearer {token.read_text().strip()}"})
            urllib.request.urlopen(request, timeout=20).read()
            with Monitor(f"unix:{folder}/s").session(name="train", process=0) as session:
                machine.work(5)
                session.mark()
                machine.work(5)
            with urllib.request.urlopen(request, timeout=20) as page:
                if not re.fullmatch(r"text/plain; version=0.0.4; charset=utf-8", page.headers["Content-Type"]):
                    sys.exit(f"FAILED: the page is {page.headers['Content-Type']}")
                return page.read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


def families(viridian):
    started = time.monotonic()
    text = scrape(viridian)
    page = exposition.families(text)
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        print("skipped: Prometheus' own parser (prometheus_client is not installed)")
    else:
        theirs = {(one.name, tuple(sorted(one.labels.items()))): one.value
                  for family in text_string_to_metric_families(text) for one in family.samples}
        ours = {(name, key): value for name, family in page.items() for key, value in family.series.items()}
        if theirs != ours:
            sys.exit(f"FAILED: Prometheus' own parser reads another page: {set(theirs.items()) ^ set(ours.items())}")
    print(f"a scrape with {len(page)} metrics, after {time.monotonic() - started:.1f} s")
    return page
