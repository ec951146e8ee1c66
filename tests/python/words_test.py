"""Messages of the library reach Python with the names of Python's arguments."""
import inspect
import re
import unittest

from support import ROOT

import viridian
from viridian.errors import in_words_of_python

ROOMS = ("base", "graph", "onnx", "rewrite", "plan", "cost", "execute", "prove", "profile", "search", "optimize", "session")
# Options that only commands have; what names them is not reached from Python.
COMMANDS_ONLY = {"idle-power", "record", "list-rules", "json"}


def sentences():
    """The strings of the rooms that Python calls, in which options of the command line stand."""
    for room in ROOMS:
        for file in sorted((ROOT / "viridian" / room).rglob("*.[ch]pp")):
            text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
            for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text)):
                if re.search(r"--[a-z]", found):
                    yield file.name, found


class Words(unittest.TestCase):
    def test_options_become_arguments(self):
        for said, here in (
                ("run it with --retune, or run `viridian optimize` here", "call `viridian.optimize` here"),
                ("move it away or choose another with --db", "move it away or choose another with `cost_database`"),
                ("add --dim batch=1 --dim seq=1, or the sizes that you serve",
                 'add dims={"batch": 1, "seq": 1}, or the sizes that you serve'),
                ("write it as --budget 300, --budget 60s or --budget 300,5m",
                 'write it as `budget="300"`, `budget="60s"` or `budget="300,5m"`'),
                ("allow at least 1.3e-03, or leave --max-error out", "allow at least 1.3e-03, or leave `max_error` out"),
                ("no plan stays within --max-error 0.001, even", "no plan stays within `max_error=0.001`, even"),
                ("leave out `--allow bf16`", "leave out `bf16=True`"),
                ("or use `--meter model`", 'or use `meter="model"`'),
                ("--keep-original writes the model as it was given", "`keep_original=True` writes the model as it was given"),
                ("see `viridian optimize --list-rules`", "see `viridian optimize --list-rules`"),
                ("there is no file `--db`", "there is no file `cost_database`"),
                ("`a --db b` is no input", "`a --db b` is no input")):
            self.assertEqual(in_words_of_python(said), here)

    def test_no_sentence_of_the_library_names_an_option(self):
        arguments = set(inspect.signature(viridian.optimize).parameters)
        met = 0
        for file, said in sentences():
            told = in_words_of_python(said)
            for option in re.findall(r"--([a-z][a-z-]*)", told):
                self.assertIn(option, COMMANDS_ONLY, f"{file}: {said}")
            for name in re.findall(r"`([a-z_]+)(?:=[^`]*)?`", told):
                if f"`{name}" not in said:
                    self.assertIn(name, arguments, f"{file}: {said}")
            met += told != said
        self.assertGreater(met, 20, "or the search for sentences finds nothing")

    def test_a_plan_of_another_machine_is_refused_in_these_words(self):
        error = viridian.errors.make_error("user", "mismatch", "the plan was made for `x`",
                                           "run it with --retune, or run `viridian optimize` here")
        self.assertIsInstance(error, viridian.InputError)
        self.assertNotIn("retune", str(error))
