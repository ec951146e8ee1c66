"""Joules in the logs of trainers. Stand-ins follow the interfaces of transformers.Trainer and lightning.Trainer, so that these
tests need PyTorch alone; peers_examples.py runs the real ones."""
import json
import os
import types
import warnings

from support import InFolder, torch_or_skip

import viridian
from viridian.training import _NOTHING

NUMBERS = {"energy/joules_per_step", "energy/watts", "energy/kwh_total"}


def small_training(torch):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad()
        for _ in range(4):  # long enough for the meter to move
            model(torch.randn(512, 256)).square().mean().backward()
        optimizer.step()

    return model, step


class HandlerOfTransformers:
    """transformers.trainer_callback.CallbackHandler: events by name, with the same arguments."""

    def __init__(self, callbacks, model):
        self.callbacks, self.model = list(callbacks), model

    def call_event(self, event, args, state, control, **named):
        for callback in self.callbacks:
            getattr(callback, event)(args, state, control, model=self.model, processing_class=None, optimizer=None,
                                     lr_scheduler=None, train_dataloader=None, eval_dataloader=None, **named)


class Reporter:
    """What TensorBoard's callback does: it takes the numbers when they come."""

    def __init__(self):
        self.logs = []

    def __getattr__(self, name):
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda *_, **__: None

    def on_log(self, _args, _state, _control, logs=None, **_):
        self.logs.append(dict(logs))


class TrainerOfTransformers:
    """The order of events of transformers.Trainer.train, with an evaluation at the end of each epoch."""

    def __init__(self, model, step, folder, callbacks, rank=0, ranks=1):
        self.step, self.reporter = step, Reporter()
        self.args = types.SimpleNamespace(output_dir=folder, process_index=rank, world_size=ranks, logging_steps=5)
        self.state = types.SimpleNamespace(global_step=0, epoch=0.0, log_history=[], num_input_tokens_seen=0)
        self.callback_handler = HandlerOfTransformers([self.reporter, *callbacks], model)

    def event(self, name, **named):
        self.callback_handler.call_event(name, self.args, self.state, types.SimpleNamespace(), **named)

    def log(self, logs):
        logs["epoch"] = self.state.epoch
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.event("on_log", logs=logs)

    def train(self, epochs, steps):
        self.event("on_train_begin")
        for epoch in range(epochs):
            self.event("on_epoch_begin")
            for place in range(steps):
                self.event("on_step_begin")
                self.step()
                self.state.global_step += 1
                self.state.epoch = epoch + (place + 1) / steps
                self.state.num_input_tokens_seen += 2048
                self.event("on_step_end")
                if self.state.global_step % self.args.logging_steps == 0:
                    self.log({"loss": 1.0})
            self.event("on_epoch_end")
            for _ in range(2):
                self.step()
                self.event("on_prediction_step")
            self.log({"eval_loss": 1.0})
            self.event("on_evaluate", metrics={})
        self.log({"train_runtime": 1.0})
        self.event("on_train_end")


class Callbacks(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torch = torch_or_skip()
        warnings.simplefilter("ignore")

    def check_file(self, folder, steps, epochs, rank=0):
        file = os.path.join(folder, f"energy.rank{rank}.json")
        with open(file, encoding="utf-8") as text:
            training = json.load(text)["training"]
        self.assertEqual((training["rank"], training["steps"], len(training["epochs"])), (rank, steps, epochs))
        whole = training["energy"]["value"]
        self.assertGreater(whole, 0)
        self.assertTrue(training["energy"]["low"] <= whole <= training["energy"]["high"] and training["energy"]["provenance"])
        parts = sum(one["energy"]["value"] for one in training["epochs"])
        parts += sum(training[key]["value"] for key in ("evaluation", "accounting") if training[key])
        self.assertAlmostEqual(parts, whole, delta=0.2 * whole)
        self.assertTrue(os.path.exists(file[:-len("json")] + "html"))
        return training, viridian.read(file)

    def check_modules(self, logs, account):
        """The joules of modules in the log are those of `viridian.account`."""
        logged = {key.removeprefix("energy/module/"): value for one in logs for key, value in one.items() if "/module/" in key}
        rows = {row["name"] + (", itself" if row["own"] else ""): row for row in account.modules(depth=2)}
        self.assertEqual(set(logged), set(rows))
        self.assertTrue({"0", "2", "(optimizer)"} <= set(rows), rows)
        for name, joules in logged.items():
            self.assertAlmostEqual(joules * account.steps, rows[name]["joules"])

    def trained(self, folder, attach=True, rank=0, ranks=1):
        from viridian.hf import EnergyCallback
        model, step = small_training(self.torch)
        callback = EnergyCallback(warmup=2, steps=4)
        trainer = TrainerOfTransformers(model, step, folder, [] if attach else [callback], rank, ranks)
        if attach:
            self.assertIs(callback.attach(trainer), callback)
        trainer.train(epochs=2, steps=10)
        return trainer, callback

    def test_transformers(self):
        trainer, callback = self.trained(self.path("hf"))
        reported = trainer.reporter.logs
        steps = [one for one in reported if "loss" in one]
        self.assertEqual(len(steps), 4)
        for one in steps:
            self.assertLessEqual(NUMBERS | {"energy/joules_per_token"}, set(one))
            self.assertAlmostEqual(one["energy/joules_per_token"] * 2048, one["energy/joules_per_step"])
        totals = [one["energy/kwh_total"] for one in reported if "energy/kwh_total" in one]
        self.assertEqual(totals, sorted(totals))
        evaluations = [one for one in reported if "eval_loss" in one]
        self.assertTrue(all(one["energy/joules_per_evaluation"] > 0 and one["energy/joules_per_epoch"] > 0 for one in evaluations))
        kept = [{**one, "step": None} for one in trainer.state.log_history]
        self.assertEqual(kept, [{**one, "step": None} for one in reported])
        training, account = self.check_file(self.path("hf"), 20, 2)
        self.assertEqual([one["epoch"] for one in training["epochs"]], [1, 2])
        self.assertGreater(training["evaluation"]["value"], 0)
        self.assertGreater(training["accounting"]["value"], 0)
        self.assertEqual(account.steps, 4)
        self.check_modules(reported, account)
        self.assertEqual(callback.energy.account.modules(), account.modules())

    def test_a_callback_in_the_list_comes_after_the_reporters(self):
        trainer, _ = self.trained(self.path("listed"), attach=False)
        self.assertFalse(any("energy/watts" in one for one in trainer.reporter.logs))
        self.assertLessEqual(NUMBERS, set(trainer.state.log_history[0]))

    def test_ranks_merge(self):
        folder = self.path("ranks")
        for rank in (0, 1, 2):
            self.trained(folder, rank=rank, ranks=3)
        parts = [viridian.read(os.path.join(folder, f"energy.rank{rank}.json")) for rank in (0, 1, 2)]
        whole = viridian.merge(folder)
        self.assertAlmostEqual(whole.joules, sum(one.joules for one in parts))
        self.assertEqual(whole.steps, 4)
        name = {"0", "2"}
        for row in whole.modules():
            if row["name"] in name:
                same = [one for part in parts for one in part.modules() if one["name"] == row["name"]]
                self.assertAlmostEqual(row["joules"], sum(one["joules"] for one in same))
                self.assertEqual(row["calls"], sum(one["calls"] for one in same))
        training = whole.json["training"]
        self.assertEqual((training["ranks"], training["hosts"], training["steps"]), (3, 1, 20))
        self.assertEqual(training["energy"], parts[0].json["training"]["energy"])  # one machine, whose meters all ranks read
        self.assertIn("cpu:0 of rank 2", whole.provenance)
        whole.save(self.path("merged.json"))
        self.assertEqual(viridian.read(self.path("merged.json")).modules(), whole.modules())
        self.assertIn("<iframe", whole._repr_html_())
        self.assertEqual(viridian.diff(whole, whole).total.increase, 0)
        with self.assertRaisesRegex(viridian.InputError, "several of these accounts are of the same rank"):
            viridian.merge([parts[0], parts[0]])
        with self.assertRaisesRegex(viridian.InputError, "has no file energy.rank"):
            viridian.merge(self.path("."))
        with self.assertRaisesRegex(viridian.InputError, "no account to merge"):
            viridian.merge([])

    def test_ranks_on_two_machines_add_up(self):
        def rank(number, host, joules):
            energy = {"value": joules, "low": joules - 1, "high": joules + 1, "provenance": "measured:test"}
            training = {"rank": number, "ranks": 3, "host": host, "steps": 7, "seconds": 1.0 + number, "energy": energy,
                        "accounting": None, "evaluation": None,
                        "epochs": [{"epoch": 1, "steps": 7, "seconds": 1.0, "energy": energy}]}
            return viridian.Account(json.dumps({**_NOTHING, "training": training}))

        told = viridian.merge([rank(0, "a", 5.0), rank(1, "a", 6.0), rank(2, "b", 10.0)]).json["training"]
        self.assertEqual((told["ranks"], told["hosts"], told["energy"]["value"], told["energy"]["low"]), (3, 2, 15.0, 13.0))
        self.assertEqual(told["epochs"][0]["energy"]["high"], 17.0)
        self.assertIsNone(told["accounting"])

    def test_lightning(self):
        from viridian.lightning import EnergyCallback
        model, step = small_training(self.torch)
        logged = []

        class Module:
            def log_dict(self, numbers, on_step, on_epoch, batch_size=None):
                assert on_step != on_epoch
                logged.append(dict(numbers))

        trainer = types.SimpleNamespace(global_step=0, global_rank=1, world_size=2, default_root_dir=self.path("lightning"),
                                        log_every_n_steps=5, current_epoch=0)
        callback, module = EnergyCallback(warmup=1, steps=3), Module()
        callback.on_validation_start(trainer, module)  # of the sanity check, before training
        callback.on_validation_end(trainer, module)
        callback.on_train_start(trainer, module)
        for epoch in range(2):
            trainer.current_epoch = epoch
            callback.on_train_epoch_start(trainer, module)
            for batch in range(20):
                if batch % 2 == 1:  # gradients of two batches are added up
                    step()
                    trainer.global_step += 1
                callback.on_train_batch_end(trainer, module, None, None, batch)
            callback.on_validation_start(trainer, module)
            step()
            callback.on_validation_end(trainer, module)
            callback.on_train_epoch_end(trainer, module)
        callback.on_train_end(trainer, module)
        self.assertEqual(sum("energy/joules_per_step" in one for one in logged), 4)
        self.assertEqual(sum("energy/joules_per_epoch" in one for one in logged), 2)
        self.assertEqual(sum("energy/joules_per_evaluation" in one for one in logged), 2)
        _, account = self.check_file(self.path("lightning"), 20, 2, rank=1)
        self.assertEqual(account.steps, 3)
        self.check_modules(logged, account)
        self.assertTrue(model is not None and callback.energy.file.endswith("energy.rank1.json"))

    def test_a_training_may_be_short_or_fail(self):
        from viridian.hf import EnergyCallback
        model, step = small_training(self.torch)
        callback = EnergyCallback(warmup=50, steps=4)
        trainer = TrainerOfTransformers(model, step, self.path("short"), [callback])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            trainer.train(epochs=1, steps=5)
        self.assertTrue(any("the block ended within its 50 steps of warm-up" in str(one.message) for one in said))
        account = viridian.read(callback.energy.file)
        self.assertEqual((account.modules(), account.steps), ([], None))
        self.assertGreater(account.json["training"]["energy"]["value"], 0)

        def fail():
            raise ZeroDivisionError

        trainer.step = fail
        with self.assertRaises(ZeroDivisionError):
            trainer.train(epochs=1, steps=5)
        trainer.step = step
        trainer.train(epochs=1, steps=5)  # begins anew
        self.assertEqual(viridian.read(callback.energy.file).json["training"]["steps"], 5)
        with self.assertRaisesRegex(viridian.InputError, "no counts"):
            EnergyCallback(steps=-1)

    def test_without_recorded_steps_there_are_no_modules(self):
        from viridian.hf import EnergyCallback
        model, step = small_training(self.torch)
        callback = EnergyCallback(steps=0, folder=self.path("elsewhere"))
        trainer = TrainerOfTransformers(model, step, self.path("unused"), [callback])
        trainer.train(epochs=1, steps=5)
        self.assertFalse(any("/module/" in key for one in trainer.state.log_history for key in one))
        self.assertEqual(callback.energy.file, os.path.join(self.path("elsewhere"), "energy.rank0.json"))
        self.assertFalse(os.path.exists(self.path("unused")))
