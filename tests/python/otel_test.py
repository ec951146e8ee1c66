"""Joules on spans: any object with `set_attribute`, and OpenTelemetry's current span if it is installed."""
import importlib.util
import subprocess
import sys
import time
import types
import unittest
import unittest.mock
import warnings

import viridian
from viridian import otel


class Span:
    """What is used of opentelemetry.trace.Span."""

    def __init__(self):
        self.attributes = {}

    def set_attribute(self, key, value):
        self.attributes[key] = value


def burn(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Spans(unittest.TestCase):
    def setUp(self):
        self.caught = warnings.catch_warnings()
        self.caught.__enter__()
        warnings.simplefilter("ignore", viridian.EstimateWarning)

    def tearDown(self):
        self.caught.__exit__(None, None, None)

    def check(self, span):
        told = span.attributes
        self.assertTrue(0 < told["viridian.energy.low"] <= told["viridian.energy.joules"] <= told["viridian.energy.high"], told)
        self.assertRegex(told["viridian.energy.provenance"], r"^(measured|estimated|logged):")
        self.assertTrue(all(type(value) in (float, str, bool) for value in told.values()), told)  # what OpenTelemetry takes

    def test_a_span_has_the_joules_of_its_block(self):
        span = Span()
        with otel.joules(span) as m:
            burn(0.3)
        self.check(span)
        self.assertEqual(span.attributes["viridian.energy.joules"], m.joules)

    def test_the_current_span_is_taken_at_the_begin(self):
        span, other = Span(), Span()
        current = [span]
        fake = types.SimpleNamespace(trace=types.SimpleNamespace(get_current_span=lambda: current[0]))
        with unittest.mock.patch.dict(sys.modules, {"opentelemetry": fake, "opentelemetry.trace": fake.trace}):
            with otel.joules():
                current[0] = other
                burn(0.3)
        self.check(span)
        self.assertEqual(other.attributes, {})

    def test_every_call_of_a_decorated_function_tells_the_span_of_then(self):
        spans = [Span(), Span()]
        left = list(spans)
        fake = types.SimpleNamespace(trace=types.SimpleNamespace(get_current_span=lambda: left.pop(0)))

        @otel.joules()
        def step():
            burn(0.2)
            return 7

        with unittest.mock.patch.dict(sys.modules, {"opentelemetry": fake, "opentelemetry.trace": fake.trace}):
            self.assertEqual([step(), step()], [7, 7])
        for span in spans:
            self.check(span)

    def test_an_exception_keeps_its_joules(self):
        span = Span()
        with self.assertRaises(KeyError):
            with otel.joules(span):
                burn(0.3)
                raise KeyError("x")
        self.check(span)

    def test_what_is_no_span_is_refused(self):
        with self.assertRaisesRegex(viridian.InputError, "str is no span: it has no `set_attribute`"):
            otel.joules("epoch")

    def test_without_opentelemetry_it_says_what_to_do(self):
        with unittest.mock.patch.dict(sys.modules, {"opentelemetry": None}):
            with self.assertRaisesRegex(viridian.MachineError, "install opentelemetry-api, or give the span"):
                with otel.joules():
                    pass

    def test_a_block_too_short_for_the_meter_has_no_joules(self):
        span = Span()
        measurement = otel.joules(span)
        with unittest.mock.patch.object(viridian.Measurement, "energy", new_callable=unittest.mock.PropertyMock,
                                        side_effect=viridian.MachineError("device_failed", "the meter did not move")):
            with measurement:
                pass
        self.assertEqual(span.attributes, {"viridian.energy.unknown": "the meter did not move."})

    def test_nothing_is_imported_before_it_is_used(self):
        done = subprocess.run([sys.executable, "-c", "import sys, viridian.otel; print('opentelemetry' in sys.modules)"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "False\n")

    @unittest.skipUnless(importlib.util.find_spec("opentelemetry"), "opentelemetry-api is not installed")
    def test_a_span_of_opentelemetry_takes_the_attributes(self):
        from opentelemetry import trace
        with trace.get_tracer("test").start_as_current_span("epoch"), otel.joules() as m:
            burn(0.3)
        self.assertGreater(m.joules, 0)


if __name__ == "__main__":
    unittest.main()
