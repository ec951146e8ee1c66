"""Joules of blocks: intervals, provenance, nesting, threads, forks, and meters that are played from a log."""
import os
import subprocess
import sys
import threading
import time
import unittest
import warnings

from support import InFolder

import viridian


def burn(seconds):
    end, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        n += 1
    return n


class Measure(unittest.TestCase):
    def test_a_block_has_joules_with_interval_and_provenance(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", viridian.EstimateWarning)
            with viridian.measure("work") as m:
                burn(0.5)
        self.assertGreaterEqual(m.seconds, 0.5)
        self.assertTrue(0 < m.low <= m.joules <= m.high)
        kind = m.provenance.partition(":")[0]
        self.assertIn(kind, ("measured", "estimated"))
        if kind == "estimated":  # no meter here: the model's factor of two is in the interval
            self.assertLessEqual(m.low, m.joules / 2)
            self.assertGreaterEqual(m.high, m.joules * 2)
        self.assertAlmostEqual(m.watts * m.seconds, m.joules)
        self.assertAlmostEqual(m.kwh * 3.6e6, m.joules)
        self.assertAlmostEqual(sum(one.joules for one in m.by_device.values()), m.joules)
        self.assertIn(m.provenance, str(m))

    def test_the_share_is_that_of_this_process(self):
        with viridian.measure() as m:
            begin = time.process_time()
            burn(1.5)
            ours = time.process_time() - begin
        if m.share is None:
            self.skipTest("no meter of this machine covers its processors")
        self.assertLessEqual(m.share, 1)
        self.assertGreater(m.share, 0.8 * ours / (m.seconds * os.cpu_count()))  # nobody is busier than all processors

    def test_blocks_nest_in_any_thread(self):
        found = {}

        def work(name):
            with viridian.measure(name) as outer:
                burn(0.15)
                with viridian.measure() as inner:
                    burn(0.15)
            found[name] = outer, inner

        threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
        with viridian.measure() as whole:
            for one in threads:
                one.start()
            for one in threads:
                one.join()
        self.assertEqual(len(found), 4)
        for outer, inner in found.values():
            self.assertLess(inner.seconds, outer.seconds)
            self.assertLess(inner.joules, outer.joules)
            self.assertLess(outer.joules, whole.joules * 1.01)

    def test_a_decorator_measures_every_call(self):
        @viridian.measure("step")
        def step(seconds):
            return burn(seconds) > 0

        self.assertTrue(step(0.1) and step(0.2))
        first, second = step.measurements
        self.assertEqual(first.label, "step")
        self.assertGreaterEqual(first.seconds, 0.1)
        self.assertGreaterEqual(second.seconds, 0.2)
        self.assertEqual(step.__name__, "step")

    def test_functions_that_return_before_their_work_are_refused(self):
        async def coroutine():
            pass

        async def stream():
            yield 1

        def numbers():
            yield 1

        for function in (coroutine, stream, numbers):
            with self.assertRaisesRegex(viridian.InputError, f"`{function.__name__}` returns before its work is done"):
                viridian.measure()(function)

    def test_a_measurement_begins_once(self):
        m = viridian.measure("twice")
        m.begin()
        with self.assertRaisesRegex(viridian.MachineError, "has begun already"):
            m.begin()
        burn(0.1)
        m.end()
        self.assertGreaterEqual(m.seconds, 0.1)
        m.begin()  # after its end it may measure anew
        m.end()

    def test_an_exception_ends_the_block(self):
        with self.assertRaises(KeyError):
            with viridian.measure() as m:
                burn(0.1)
                raise KeyError("x")
        self.assertGreater(m.seconds, 0)

    def test_joules_before_the_end_are_an_error(self):
        m = viridian.measure("early")
        with self.assertRaisesRegex(viridian.MachineError, "has not ended"):
            _ = m.joules
        with self.assertRaisesRegex(viridian.MachineError, "has not begun"):
            m.end()

    def test_a_forked_child_measures_by_itself(self):
        with viridian.measure():
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    with viridian.measure() as m:
                        burn(0.1)
                    code = 0 if m.joules > 0 else 2
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            burn(0.1)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_an_unknown_meter_is_named(self):
        with self.assertRaisesRegex(viridian.InputError, "nonsense"):
            with viridian.measure(meter="nonsense"):
                pass


class Replayed(InFolder):
    def run_with(self, log, program):
        path = self.path("power.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(log)
        done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, VIRIDIAN_REPLAY=path), check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_joules_are_those_of_the_meter(self):
        head = "# recorded_by test\ntime_ns,meter,device,scope,kind,value,window_ns\n"
        start = 1_700_000_000_000_000_000
        rows = "".join(f"{start + i * 20_000_000},powercap,cpu:0,package,power_uw,40000000,0\n" for i in range(30_000))
        said = self.run_with(head + rows, "import time, viridian\n"
                             "with viridian.measure() as m: time.sleep(1)\n"
                             "print(m.joules / m.seconds, m.provenance, m.complete)")
        watts, provenance, complete = said.split()
        self.assertAlmostEqual(float(watts), 40, delta=1)
        self.assertIn("powercap", provenance)
        self.assertFalse(provenance.startswith("estimated"))
        self.assertEqual(complete, "True")
