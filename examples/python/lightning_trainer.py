"""Joules in the log of Lightning's Trainer, and by module in energy.rank0.json (needs lightning)."""
import viridian.lightning  # before torch, as docs/python.md explains

import lightning
import torch


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256))

    def training_step(self, batch, _):
        return torch.nn.functional.mse_loss(self.body(batch[0]), batch[0])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(4096, 256)), batch_size=128)
callback = viridian.lightning.EnergyCallback(warmup=2, steps=8)
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", log_every_n_steps=8, default_root_dir="trained", callbacks=[callback],
                            enable_progress_bar=False, enable_checkpointing=False, logger=False)
trainer.fit(Net(), data)
print({name: f"{float(value):.4g}" for name, value in trainer.callback_metrics.items() if "module" not in name})
print(callback.energy.account.modules(depth=3))
print("written to", callback.energy.file)
