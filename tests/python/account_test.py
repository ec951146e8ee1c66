"""Joules by module of a training under PyTorch, in process."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

from support import VIRIDIAN, InFolder, torch_or_skip

import viridian


def synthetic(steps, **joules):
    """A result in which each module of `Net` has one operator with the joules given, known within 10 %."""
    def energy(value):
        return {"value": value, "low": 0.9 * value, "high": 1.1 * value, "provenance": "measured:test"}

    operations = [{"name": f"Net/{name}/aten::mm", "parent": f"Net/{name}", "type": "aten::mm", "kind": "operation", "count": steps,
                   "seconds": 1.0, "watts": value, "joules": energy(value), "device": "cpu:0", "stream": "1", "pass": "forward"}
                  for name, value in joules.items()]
    device = {"name": "cpu:0", "method": "overlap", "verdict": "", "power": "measured:test", "update_ns": 1e6, "idle": energy(0),
              "unattributed": energy(0), "residual": energy(0), "meter_total": energy(sum(joules.values())), "other_processes": 0}
    modules = [{"name": f"Net/{name}", "type": "Linear", "calls": steps, "recomputed": 0} for name in joules]
    return viridian.Account(json.dumps({"schema": "viridian.account/2", "trace": "", "power": "", "sharing": "", "events": 1,
                                        "operations": operations, "devices": [device], "edges": [], "modules": modules,
                                        "warnings": [], "method": "overlap", "steps": steps}))


class Differences(unittest.TestCase):
    def test_a_larger_run_is_found_in_review(self):
        before, after = synthetic(10, a=10.0, b=20.0, c=70.0), synthetic(20, a=60.0, b=40.0, c=60.0)
        found = viridian.diff(before, after)
        self.assertTrue(found.per_step)
        self.assertAlmostEqual(found.total.increase, -0.2)
        self.assertEqual([one.name for one in found.significant()], ["Net.c", "Net.a"])
        found.check(max_increase=0.0)
        larger = viridian.diff(synthetic(10, a=10.0, b=100.0), synthetic(10, a=180.0, b=10.0))
        with self.assertRaisesRegex(viridian.EnergyIncreased, r"the energy grew by 72\.7 %.* most of it in 1 J -> 18 J .*  Net.a"):
            larger.check(max_increase=0.03)
        larger.check(max_increase=0.8)

    def test_the_largest_increase_is_named_and_not_the_largest_saving(self):
        found = viridian.diff(synthetic(1, a=200.0, b=10.0, c=1.0), synthetic(1, a=80.0, b=80.0, c=82.0))
        self.assertEqual(found.changes[0].name, "Net.a")
        with self.assertRaisesRegex(viridian.EnergyIncreased, "most of it in .*  Net.c"):
            found.check(max_increase=0.03)


class Names(unittest.TestCase):
    """Names of modules that live shortly or come late."""

    def setUp(self):
        self.torch = torch = torch_or_skip()

        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.late, self.norm = None, torch.nn.LayerNorm(4)

            def forward(self, x):
                return (self.late or torch.nn.Dropout(0.1))(self.norm(x))

        self.layer = Layer
        from viridian.recording.module_scopes import ModuleScopes
        self.scopes = ModuleScopes(torch)
        self.scopes.start()
        self.addCleanup(self.scopes._off)
        self.x = torch.ones(2, 4)

    def called(self):
        """The names of the calls, in the order of their ends, with slashes."""
        return [self.scopes.tree.names[key][0] for key, _, _ in self.scopes.lane.calls.rows]

    def test_parts_made_in_a_forward_lie_under_their_caller(self):
        net = self.torch.nn.Sequential(*(self.layer() for _ in range(100)))
        net(self.x)
        net(self.x)
        made = [one for one in self.called() if one.endswith("/Dropout")]
        self.assertEqual(made, 2 * [f"Sequential/{i}/Dropout" for i in range(100)])
        self.assertLessEqual(self.scopes.tree.searches, 1 + 9)
        self.assertLessEqual(len(self.scopes.tree.alive), 1 + 200 + 100)

    def test_a_part_that_is_added_later_has_its_own_name(self):
        net = self.torch.nn.Sequential(*(self.layer() for _ in range(4)))
        for _ in range(3):
            net(self.x)
        net[1].late = self.torch.nn.Dropout(0.2)  # called where the others were made
        net(self.x)
        self.assertEqual(self.called()[-13:][1::3], ["Sequential/0/Dropout", "Sequential/1/late", "Sequential/2/Dropout",
                                                     "Sequential/3/Dropout"])

    def test_a_model_that_is_made_later_is_found_through_its_part(self):
        for _ in range(20):
            self.torch.nn.Identity()(self.x)
        net = self.torch.nn.Sequential(self.torch.nn.Identity(), self.layer())
        net[0](self.x)
        net[1](self.x)
        self.assertEqual(self.called()[20:], ["Sequential/0", "Sequential/1/norm", "Sequential/1/Dropout", "Sequential/1"])
        self.assertEqual(set(self.called()[:20]), {"Identity"})

    def test_one_search_serves_all_modules_that_are_held(self):
        nets = [self.torch.nn.Sequential(self.torch.nn.Identity()) for _ in range(30)]
        for net in nets:
            net[0](self.x)
        self.assertEqual(self.called(), ["Sequential/0"] + [f"Sequential_{i}/0" for i in range(2, 31)])
        self.assertEqual(self.scopes.tree.searches, 1)

    def test_whole_models_made_at_every_step_keep_their_names(self):
        for _ in range(50):
            self.torch.nn.Sequential(self.layer())(self.x)
        self.assertEqual(self.called(), 50 * ["Sequential/0/norm", "Sequential/0/Dropout", "Sequential/0", "Sequential"])
        self.assertEqual(len(self.scopes.tree.names), 1 + 4)
        self.assertLessEqual(self.scopes.tree.searches, 1 + 6 + 7)


class Accounts(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torch = torch = torch_or_skip()
        torch.manual_seed(0)
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(),
                                                torch.nn.Conv2d(16, 16, 3, padding=1))
                self.head = torch.nn.Linear(16, 4)

            def forward(self, x):
                return self.head(self.body(x).mean((2, 3)))

        cls.model = Net()
        cls.optimizer = torch.optim.SGD(cls.model.parameters(), 0.1, momentum=0.9)
        with viridian.account(cls.model, warmup=2, steps=12) as cls.account:
            for _ in range(40):
                cls.train(48)
                if cls.account.step():
                    break
        cls.rows = {row["name"]: row for row in cls.account.modules()}

    @classmethod
    def train(cls, size):
        cls.optimizer.zero_grad()
        cls.model(cls.torch.randn(16, 3, size, size)).square().sum().backward()
        cls.optimizer.step()

    def test_modules_are_rows_by_their_names(self):
        self.assertTrue({"body.0", "body.1", "body.2", "head"} <= set(self.rows), sorted(self.rows))
        self.assertEqual(self.rows["body.2"]["type"], "Conv2d")
        self.assertEqual(self.rows["body.2"]["calls"], 12)
        self.assertGreater(self.rows["body.2"]["backward_joules"], 0)
        self.assertGreater(self.rows["(optimizer)"]["optimizer_joules"], 0)
        joules = [row["joules"] for row in self.account.modules()]
        self.assertEqual(joules, sorted(joules, reverse=True))
        for row in self.rows.values():
            passes = sum(row[key] for key in row if key.endswith("_joules"))
            self.assertAlmostEqual(passes, row["joules"], delta=1e-9 + 1e-6 * row["joules"])

    def test_every_table_adds_up(self):
        whole = sum(row["joules"] for row in self.account.operators())
        for rows in (self.account.modules(), self.account.modules(depth=1), self.account.types()):
            self.assertAlmostEqual(sum(row["joules"] for row in rows), whole, delta=1e-6 * whole)
        self.assertIn("body", [row["name"] for row in self.account.modules(depth=1)])
        devices = self.account.json["devices"]
        total = sum(one["meter_total"]["value"] - one["idle"]["value"] - one["unattributed"]["value"] - one["residual"]["value"]
                    for one in devices)
        self.assertAlmostEqual(self.account.joules, total, delta=0.01 * total)

    def test_steps_and_overhead_are_said(self):
        self.assertEqual(self.account.steps, 12)
        self.assertGreater(self.account.overhead["calls"], 12 * 5)
        self.assertGreaterEqual(self.account.overhead["nanoseconds_each"], 0)
        self.assertIn("body.2 (Conv2d)", str(self.account))
        self.assertIn("<table>", self.account.modules()._repr_html_())
        self.assertIn("<iframe srcdoc=", self.account._repr_html_())

    def test_the_command_line_reads_what_was_saved(self):
        path = self.path("run.json")
        self.account.save(path)
        self.account.save(self.path("run.html"))
        said = subprocess.run([VIRIDIAN, "account", "diff", path, path, "--json"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(json.loads(said)["totals"][0], json.loads(said)["totals"][1])
        again = viridian.read(path)
        self.assertEqual(again.modules(), self.account.modules())
        with self.assertRaisesRegex(viridian.InputError, "neither .json nor .html"):
            self.account.save(self.path("run.txt"))
        with open(path, "w", encoding="utf-8") as file:
            file.write("{}")
        with self.assertRaisesRegex(viridian.InputError, "not an accounting result"):
            viridian.read(path)

    def test_a_timeline_for_perfetto_has_joules_and_power(self):
        self.account.save(self.path("run.perfetto.json"))
        self.account.save(self.path("run.perfetto.json.gz"))
        with open(self.path("run.perfetto.json"), encoding="utf-8") as file:
            rows = json.load(file)["traceEvents"]
        with gzip.open(self.path("run.perfetto.json.gz"), "rt", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["traceEvents"], rows)
        power = [row for row in rows if row.get("ph") == "C"]
        self.assertGreater(len(power), 1)
        for row in power:
            self.assertRegex(row["name"], r"^cpu:0 \w+ power \(")
            self.assertGreaterEqual(row["args"]["W"], 0)
        joules = 1e-6 * sum(row["args"].get("energy_uj", 0) for row in rows if row.get("ph") == "X")
        self.assertAlmostEqual(joules, self.account.joules, delta=0.01 * self.account.joules)
        self.assertTrue(any(row.get("args", {}).get("in", "").startswith("Net/body/2") for row in rows))
        again = self.path("again.json")
        self.account.save(again)
        with self.assertRaisesRegex(viridian.InputError, "an account from a file has no events"):
            viridian.read(again).save(self.path("again.perfetto.json"))

    def test_modules_made_at_every_step_are_one_row_and_are_seldom_searched_for(self):
        with viridian.account() as a:
            for _ in range(40):
                classes = self.model(self.torch.randn(4, 3, 16, 16))
                self.torch.nn.CrossEntropyLoss()(classes, self.torch.zeros(4, dtype=self.torch.long)).backward()
        rows = {row["name"]: row for row in a.modules()}
        self.assertEqual((rows["CrossEntropyLoss"]["calls"], rows["body.2"]["calls"]), (40, 40))
        self.assertGreater(rows["CrossEntropyLoss"]["backward_joules"], 0)
        self.assertLessEqual(a.overhead["searches"], 1 + 7)  # the model; losses 1, 2, 3, 5, 9, 17 and 33

    def test_forward_passes_count_steps_too(self):
        with viridian.account(self.model, warmup=1, steps=3) as a:
            for _ in range(6):
                self.train(32)
        self.assertEqual(a.steps, 3)
        rows = {row["name"]: row for row in a.modules()}
        self.assertEqual(rows["body.0"]["calls"], 3)
        self.assertEqual(len(self.model._forward_pre_hooks) + len(self.model._forward_hooks), 0)
        self.assertFalse("viridian" in self.torch.nn.Module.__call__.__module__)

    def test_a_step_may_have_several_forward_passes(self):
        for warmup, steps, forwards in ((2, 3, 3), (1, 2, 5), (0, 4, 3), (0, 2, 3)):
            with viridian.account(self.model, warmup=warmup, steps=steps) as a:
                for done in range(1, 20):
                    for _ in range(forwards):
                        self.train(16)
                    if a.step():
                        break
            lost = 1 if warmup == 0 and forwards > steps else 0  # the recording ended within the first step
            self.assertEqual((a.steps, done), (steps, warmup + steps + lost))
            rows = {row["name"]: row for row in a.modules()}
            self.assertEqual(rows["body.0"]["calls"], steps * forwards)

    def test_nothing_is_left_behind_by_errors(self):
        temporary = self.path("temporary")
        os.mkdir(temporary)
        patched = mock.patch.object(tempfile, "tempdir", temporary)
        patched.start()
        self.addCleanup(patched.stop)
        hooks = self.model._forward_pre_hooks, self.model._forward_hooks

        def fail(*_):
            raise OSError("the disk is full")

        with mock.patch.object(viridian.Recording, "_start", fail), self.assertRaisesRegex(OSError, "full"):
            with viridian.account(self.model):
                self.fail("the block began")
        for name in ("_stop", "_finish"):
            with mock.patch.object(viridian.Recording, name, fail), self.assertRaisesRegex(OSError, "full"):
                with viridian.account(self.model) as a:
                    self.train(16)
            if name == "_stop":  # the profiler of PyTorch goes on, so that this test ends it
                a._recording.target = self.path("late.json.gz")
                a._recording.stop()
        with self.assertRaisesRegex(viridian.InputError, "nonsense"):
            with viridian.account(self.model, meter="nonsense"):
                self.fail("the block began")
        with mock.patch.object(viridian.Recording, "_stop", fail), self.assertRaises(ZeroDivisionError):
            with viridian.account(self.model, warmup=5):
                _ = 1 / 0
        self.assertEqual([len(one) for one in hooks], [0, 0])
        self.assertEqual(os.listdir(temporary), [])

    def test_a_forked_child_leaves_the_recording_alone(self):
        program = ("import os, sys, torch, viridian\n"
                   "torch.set_num_threads(1)\n"
                   "model = torch.nn.Linear(8, 8)\n"
                   "child = 1\n"
                   "with viridian.account(model) as a:\n"
                   "    for _ in range(3): model(torch.randn(64, 8)); a.step()\n"
                   "    child = os.fork()\n"
                   "    if child:\n"
                   "        status = os.waitpid(child, 0)[1]\n"
                   "        model(torch.randn(64, 8)); a.step()\n"
                   "    else: model(torch.randn(64, 8)); a.step()\n"
                   "if child == 0:\n"
                   "    hooks = len(model._forward_pre_hooks) + len(model._forward_hooks)\n"
                   "    del a\n"
                   "    os._exit(hooks)\n"
                   "print(status, a.steps)")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
                              check=False, timeout=300)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["0", "4"]), done.stderr)

    def test_a_forked_child_may_leave_by_exit(self):
        """Whatever the child's end destroys, the recording goes on in the parent, and nobody waits for a thread that is not
        there."""
        for leave in ("sys.exit(7)", "del a; gc.collect(); sys.exit(7)", "raise SystemExit(7)",
                      "a.__exit__(None, None, None); sys.exit(7)"):
            program = ("import gc, os, sys, torch, viridian\n"
                       "torch.set_num_threads(1)\n"
                       "model = torch.nn.Linear(8, 8)\n"
                       "def work():\n"
                       "    model(torch.randn(64, 8)); a.step()\n"
                       "a = viridian.account(model)\n"
                       "a.__enter__()\n"
                       "work()\n"
                       "folder, child = a._folder, os.fork()\n"
                       "if child == 0:\n"
                       f"    {leave}\n"
                       "status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
                       "kept = sorted(os.listdir(folder))\n"
                       "work()\n"
                       "a.__exit__(None, None, None)\n"
                       "steps = a.steps\n"
                       "a.save(sys.argv[1])\n"
                       "del a; gc.collect()\n"
                       "print(status, steps, 'power.csv' in kept, os.path.exists(folder))")
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, self.path("forked.perfetto.json")],
                                  capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["7", "2", "True", "False"]), leave + done.stderr)

    def test_a_run_does_not_differ_from_itself(self):
        same = viridian.diff(self.account, self.account)
        self.assertEqual(same.total.increase, 0)
        self.assertEqual(same.significant(), [])
        same.check(max_increase=0.0)

    def test_errors_say_the_next_step(self):
        with self.assertRaisesRegex(viridian.InputError, "no counts"):
            viridian.account(self.model, warmup=-1)
        with self.assertRaisesRegex(viridian.InputError, "warm-up"):
            with viridian.account(self.model, warmup=5):
                self.train(16)
        with self.assertRaises(ZeroDivisionError):
            with viridian.account(self.model) as failed:
                _ = 1 / 0
        with self.assertRaisesRegex(viridian.InputError, "no account yet"):
            failed.modules()
