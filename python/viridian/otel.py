"""Joules on OpenTelemetry's spans.

    import viridian.otel
    with tracer.start_as_current_span("epoch"), viridian.otel.joules():
        train()

The span then has `viridian.energy.joules`, `.low`, `.high`, `.provenance`, and `viridian.cpu.share`. Any object with
`set_attribute` is a span; OpenTelemetry is imported only if none is given. Joules are those of the whole machine, so spans
at the same time each have them: add up those of one level."""
from __future__ import annotations

from typing import Any

from .errors import InputError, MachineError
from .measuring import Measurement


class joules(Measurement):  # pylint: disable=invalid-name  # it is used like a function
    """Measures a block, or every call of a function, as `viridian.measure` does, and tells `span`, or the current span, at
    the end. Where a block is too short for the meter, `viridian.energy.unknown` says why and there are no joules."""

    def __init__(self, span: Any = None, label: str = "", meter: str = "") -> None:
        super().__init__(label, meter)
        if span is not None and not callable(getattr(span, "set_attribute", None)):
            raise InputError("invalid_argument", f"{type(span).__name__} is no span: it has no `set_attribute`",
                             "give a span of OpenTelemetry, or none for the current one")
        self._given = span
        self._span: Any = None

    def _again(self, label: str) -> Measurement:
        return joules(self._given, label, self._meter)

    def begin(self) -> None:
        span = self._given
        if span is None:
            try:
                from opentelemetry import trace  # pylint: disable=import-outside-toplevel
            except ImportError:
                raise MachineError("missing_entry", "there is no current span: OpenTelemetry is not installed",
                                   "install opentelemetry-api, or give the span") from None
            span = trace.get_current_span()
        super().begin()
        self._span = span

    def end(self) -> None:
        super().end()
        span, self._span = self._span, None
        try:
            energy = self.energy
        except MachineError as error:
            span.set_attribute("viridian.energy.unknown", str(error))
            return
        for name, value in (("joules", energy.joules), ("low", energy.low), ("high", energy.high),
                            ("provenance", energy.provenance), ("complete", self.complete)):
            span.set_attribute(f"viridian.energy.{name}", value)
        if self.share is not None:
            span.set_attribute("viridian.cpu.share", self.share)
