"""Joules that `viridian serve` measures for a process that cannot: over counters that the tests move."""
import ast
import importlib.util
import json
import os
import signal
import subprocess
import sys
import unittest

from support import VIRIDIAN, InFolder

PROGRAM = """
import os, sys, viridian
def move(package):
    for zone, value in (("intel-rapl:0", package),):
        with open(os.path.join(sys.argv[1], "sys/class/powercap", zone, "energy_uj"), "r+b") as file:
            file.write(b"%015d\\n" % value)
with viridian.measure("outer") as outer:
    with viridian.measure("inner") as inner:
        move(12_000_000)
    move(15_500_000)
share = outer.share
print(repr((outer.joules, inner.joules, outer.provenance, outer.complete, share is None or 0 <= share <= 1)))
"""


class Serving(InFolder):
    """A monitor that alone can see a powercap tree."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if importlib.util.find_spec("grpc") is None:
            raise unittest.SkipTest("grpcio is not installed")
        cls.root = cls.folder / "host"
        zone = cls.root / "sys/class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        (cls.root / "proc").symlink_to("/proc")
        (zone / "name").write_text("package-0\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (zone / "energy_uj").write_bytes(b"%015d\n" % 10_000_000)
        cls.socket = f"unix:{cls.folder}/monitor.sock"
        cls.server = subprocess.Popen([VIRIDIAN, "serve", "--listen", cls.socket, "--meter", "powercap", "--json"],
                                      stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=dict(os.environ, VIRIDIAN_ROOT=str(cls.root)))
        said = cls.server.stderr.readline()
        assert "monitor.sock" in said, said

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGTERM)
        told = json.loads(cls.server.communicate(timeout=60)[0])
        super().tearDownClass()
        assert told["sessions_started"] >= 3 and told["sessions_expired"] == told["sessions_open"] == 0, told

    def said(self, program, **variables):
        zone = self.root / "sys/class/powercap/intel-rapl:0/energy_uj"
        with open(zone, "r+b") as file:
            file.write(b"%015d\n" % 10_000_000)
        return subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(self.root)], check=False, capture_output=True,
                              text=True, env={**os.environ, **variables}, timeout=120)

    def test_the_monitor_that_is_named_measures(self):
        done = self.said(PROGRAM, VIRIDIAN_MONITOR=self.socket)
        self.assertEqual(done.returncode, 0, done.stderr)
        outer, inner, provenance, complete, share = ast.literal_eval(done.stdout)
        self.assertAlmostEqual(outer, 5.5, places=6)
        self.assertAlmostEqual(inner, 2.0, places=6)
        self.assertEqual((provenance, complete, share), ("measured:powercap", True, True))

    def test_a_monitor_at_the_usual_place_is_preferred_to_an_estimate(self):
        found = f"import viridian.measuring as m; m.usual_socket = lambda: {self.socket!r}\n"
        done = self.said(found + "import viridian\nfrom viridian.measuring import _meters\n"
                         "estimated = viridian._core.Windows('', m.meter_paths()).estimated()\n"
                         "print(estimated, type(_meters.of('')).__name__, type(_meters.of('model')).__name__)")
        self.assertEqual(done.returncode, 0, done.stderr)
        estimated, default, named = done.stdout.split()
        self.assertEqual(default, "ServedWindows" if estimated == "True" else "Windows")
        self.assertEqual(named, "Windows")

    def test_a_forked_child_does_not_ask_by_its_parents_connection(self):
        done = self.said("import os, viridian\n"
                         "with viridian.measure(): pass\n"
                         "child = os.fork()\n"
                         "if child == 0:\n"
                         "    try:\n"
                         "        viridian.measure().begin()\n"
                         "    except viridian.MachineError as error:\n"
                         "        os._exit(0 if 'forked process' in str(error) else 2)\n"
                         "    os._exit(1)\n"
                         "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))", VIRIDIAN_MONITOR=self.socket)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "0"), done.stderr)

    def test_without_a_monitor_there_it_is_an_error(self):
        done = self.said(PROGRAM, VIRIDIAN_MONITOR=f"unix:{self.folder}/none.sock")
        self.assertIn("MachineError: the monitor does not measure: no monitor answers at unix:", done.stderr)
        self.assertIn("`viridian serve`", done.stderr)
