"""Joules in the log of Hugging Face's Trainer:

    import viridian.hf
    trainer = transformers.Trainer(model, args, train_dataset=data)
    viridian.hf.EnergyCallback().attach(trainer)
    trainer.train()

docs/python.md explains the numbers."""
from __future__ import annotations

import os
from typing import Any

from .training import TrainingEnergy

try:
    from transformers import TrainerCallback as _Callback
except ImportError:
    class _Callback:  # type: ignore[no-redef]
        """For a trainer that only follows the interface: nothing happens at the events that are not overridden."""

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("on_"):
                raise AttributeError(name)
            return lambda *_, **__: None


class EnergyCallback(_Callback):
    """Logs joules a step, epoch, evaluation and token, watts, and once the joules a step of each module, and writes
    energy.rank0.json into the trainer's folder. `steps` steps after `warmup` others are recorded for the modules; `steps=0`
    records none. `Trainer(callbacks=[...])` calls what it reports to before this callback, so that TensorBoard and others
    miss the numbers, which its history and progress bar have: `attach` puts the callback in front."""

    def __init__(self, *, warmup: int = 3, steps: int = 10, depth: int = 2, folder: str | os.PathLike[str] | None = None,
                 meter: str = "") -> None:
        self.energy = TrainingEnergy(warmup=warmup, steps=steps, depth=depth, folder=folder, meter=meter)
        self._tokens = 0

    def attach(self, trainer: Any) -> "EnergyCallback":
        """Makes this the first callback of `trainer`."""
        trainer.callback_handler.callbacks.insert(0, self)
        return self

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._tokens = getattr(state, "num_input_tokens_seen", 0)
        self.energy.begin(getattr(args, "process_index", 0), getattr(args, "world_size", 1), args.output_dir)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.energy.begin_epoch()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        before, self._tokens = self._tokens, getattr(state, "num_input_tokens_seen", 0)
        self.energy.step(self._tokens - before)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.energy.end_epoch(state.epoch)

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.energy.begin_evaluation()  # the first batch of an evaluation has just been computed

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.energy.end_evaluation()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is None:
            return
        if any(key.startswith("eval_") for key in logs):  # comes before on_evaluate
            self.energy.end_evaluation()
        told = self.energy.log()
        logs.update(told)
        if state.log_history and state.log_history[-1].get("step") == state.global_step:
            state.log_history[-1].update(told)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.energy.end()
