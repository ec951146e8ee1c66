"""Joules in the log of Lightning's Trainer:

    import viridian.lightning
    trainer = lightning.Trainer(callbacks=[viridian.lightning.EnergyCallback()])

docs/python.md explains the numbers."""
from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .training import TrainingEnergy


def _callback_class() -> Any:
    """Lightning's Callback, of the package that the program uses; an empty class without Lightning."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        if name in sys.modules:
            return sys.modules[name].Callback
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(name).Callback
        except ImportError:
            pass
    return object  # a trainer that only follows the interface


class EnergyCallback(_callback_class()):  # type: ignore[misc]
    """Logs joules a step, epoch and evaluation, watts, and once the joules a step of each module, and writes
    energy.rank0.json into the trainer's default_root_dir. `steps` steps after `warmup` others are recorded for the modules;
    `steps=0` records none."""

    def __init__(self, *, warmup: int = 3, steps: int = 10, depth: int = 2, folder: str | os.PathLike[str] | None = None,
                 meter: str = "") -> None:
        super().__init__()
        self.energy = TrainingEnergy(warmup=warmup, steps=steps, depth=depth, folder=folder, meter=meter)
        self._steps = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._steps = trainer.global_step
        self.energy.begin(trainer.global_rank, trainer.world_size, trainer.default_root_dir)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self.energy.begin_epoch()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        before, self._steps = self._steps, trainer.global_step
        for _ in range(self._steps - before):  # none for a batch whose gradients are only added up
            self.energy.step()
        if self._steps > before and trainer.log_every_n_steps and self._steps % trainer.log_every_n_steps == 0:
            pl_module.log_dict(self.energy.log(), on_step=True, on_epoch=False)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self.energy.begin_evaluation()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self.energy.end_evaluation()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self.energy.end_epoch(trainer.current_epoch + 1)
        pl_module.log_dict(self.energy.log(), on_step=False, on_epoch=True, batch_size=1)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.energy.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.energy.abandon()
