"""Exceptions. Each says in one sentence what is wrong, and then what to do now."""
from __future__ import annotations

import re


class Error(Exception):
    """What went wrong: `message`, and `next_step`, which helps now. `code` is a word that does not change between
    versions, such as "file_not_found"."""

    def __init__(self, code: str, message: str, next_step: str = "") -> None:
        self.code, self.message, self.next_step = code, message, next_step
        super().__init__(message + "." + (f" {next_step}." if next_step else ""))

    def __reduce__(self):
        return type(self), (self.code, self.message, self.next_step)


class InputError(Error, ValueError):
    """What was given is wrong."""


class MachineError(Error, RuntimeError):
    """This machine cannot do what was asked."""


class InternalError(Error, AssertionError):
    """A mistake of Viridian itself."""


class EstimateWarning(UserWarning):
    """Joules are estimated, because no meter covers a device."""


_KINDS = {"user": InputError, "machine": MachineError, "bug": InternalError}


def make_error(kind: str, code: str, message: str, next_step: str) -> Error:
    """The exception for an error of the library, which speaks of the command line's options."""
    next_step = re.sub(r"--dim (\S+?)=(\d+)", r'dims={"\1": \2}', next_step)
    next_step = re.sub(r"--([a-z][a-z-]*)", lambda found: "`" + found[1].replace("-", "_") + "`", next_step)
    return _KINDS[kind](code, message, next_step)
