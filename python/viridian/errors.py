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


# What the library says in the words of the command line, and how it is said here. Other options, and what stands in
# backticks as commands and names do, stay as they are.
_RETUNE = "run it with --retune, or run `viridian optimize` here"
_REFERENCE = "`viridian run --device reference`"
_WHOLE = {"--as f32": "`as_f32=True`", "--allow bf16": "`bf16=True`", "--keep-original": "`keep_original=True`",
          "--exact-arithmetic": "`exact_arithmetic=True`", "--db": "`cost_database`", "--as": "`as_f32`", "--dim": "`dims`"}
_NUMBERS, _TEXTS = ("max-error", "threads", "batch"), ("budget", "memory", "meter", "objective")
_OPTION = re.compile("|".join([
    r"(?P<dims>--dim \S+?=\w+(?: --dim \S+?=\w+)*)", f"(?P<whole>{'|'.join(_WHOLE)})(?![\\w-])",
    rf"--(?P<number>{'|'.join(_NUMBERS)})(?: (?P<size>\d[\d.e-]*\d|\d))?(?![\w-])",
    rf"--(?P<text>{'|'.join(_TEXTS)})(?: (?P<value>\d[\w.,]*\w|\d|model))?(?![\w-])"]))


def _argument(found: re.Match[str]) -> str:
    if found["dims"]:
        return "dims={" + ", ".join(f'"{name}": {size}' for name, size in re.findall(r"--dim (\S+?)=(\w+)", found[0])) + "}"
    if found["whole"]:
        return _WHOLE[found["whole"]]
    name, value = (found["number"] or found["text"]).replace("-", "_"), found["size"] or found["value"]
    return f"`{name}`" if value is None else f"`{name}={value}`" if found["number"] else f'`{name}="{value}"`'


def in_words_of_python(text: str) -> str:
    """A sentence of the library with the arguments of Python's functions for the options of the command line."""
    text = text.replace(_RETUNE, "call `viridian.optimize` here").replace(_REFERENCE, "`viridian.backend`")
    text = text.replace("`viridian optimize`", "`viridian.optimize`")
    text = re.sub("`(--[^`]*)`", lambda found: found[1] if _OPTION.match(found[1]) else found[0], text)
    parts = re.split("(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _OPTION.sub(_argument, part) for part in parts)


def make_error(kind: str, code: str, message: str, next_step: str) -> Error:
    """The exception for an error of the library."""
    return _KINDS[kind](code, in_words_of_python(message), in_words_of_python(next_step))
