"""Joules in the log of Hugging Face's Trainer, and by module in energy.rank0.json (needs transformers and accelerate)."""
import viridian.hf  # before torch, as docs/python.md explains

import torch
import transformers

config = transformers.BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=500)
model = transformers.BertForSequenceClassification(config)
data = [{"input_ids": torch.randint(500, (32,)), "labels": i % 2} for i in range(512)]

options = transformers.TrainingArguments("trained", num_train_epochs=2, per_device_train_batch_size=16, logging_steps=8,
                                         save_strategy="no", report_to="none", use_cpu=True)
trainer = transformers.Trainer(model, options, train_dataset=data)
energy = viridian.hf.EnergyCallback(warmup=2, steps=8).attach(trainer).energy
trainer.train()

for row in trainer.state.log_history:
    print({name: f"{value:.4g}" for name, value in row.items() if name in ("step", "energy/joules_per_step", "energy/watts")})
print(energy.account.modules(depth=2))
print("written to", energy.file)
