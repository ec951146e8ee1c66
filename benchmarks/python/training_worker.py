#!/usr/bin/env python3
"""training_worker.py MODEL train STEPS | account STEPS FILE | overhead ROUNDS FILE: trains ResNet-18, a BERT or a model like
Llama under PyTorch on random data, for modules.py. `train` knows nothing of Viridian. `account` accounts the steps after two of
warm-up. `overhead` takes turns: some steps alone, some recorded."""
import json
import statistics
import sys
import time

if sys.argv[2] != "train":
    import viridian  # before torch (docs/python.md)
import torch

WARMUP = 2


def resnet18():
    """torchvision's, by the names of its modules; torchvision itself has no wheel for PyTorch 1.13 under Python 3.11."""
    class Block(torch.nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.bn1 = torch.nn.BatchNorm2d(width)
            self.relu = torch.nn.ReLU(inplace=True)
            self.conv2 = torch.nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = torch.nn.BatchNorm2d(width)
            self.downsample = None
            if stride != 1:
                self.downsample = torch.nn.Sequential(torch.nn.Conv2d(before, width, 1, stride, bias=False),
                                                      torch.nn.BatchNorm2d(width))

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + (x if self.downsample is None else self.downsample(x)))

    class ResNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = torch.nn.BatchNorm2d(64)
            self.relu = torch.nn.ReLU(inplace=True)
            self.maxpool = torch.nn.MaxPool2d(3, 2, 1)
            widths = (64, 64, 128, 256, 512)
            for i in range(1, 5):
                stride = 1 if i == 1 else 2
                self.add_module(f"layer{i}", torch.nn.Sequential(Block(widths[i - 1], widths[i], stride), Block(widths[i], widths[i], 1)))
            self.avgpool = torch.nn.AdaptiveAvgPool2d(1)
            self.fc = torch.nn.Linear(512, 1000)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(torch.flatten(self.avgpool(x), 1))

    model = ResNet()
    # A loss that is made at every step, as many programs do.
    return model, lambda: torch.nn.CrossEntropyLoss()(model(torch.randn(8, 3, 224, 224)), torch.randint(1000, (8,)))


def bert():
    import transformers
    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=6, intermediate_size=1536, vocab_size=4000)
    model = transformers.BertForSequenceClassification(config)
    return model, lambda: model(input_ids=torch.randint(4000, (16, 128)), labels=torch.randint(2, (16,))).loss


def llama():
    import transformers
    config = transformers.LlamaConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=6, num_key_value_heads=6,
                                      intermediate_size=1024, vocab_size=4000, pad_token_id=0)
    model = transformers.LlamaForCausalLM(config)

    def loss():
        tokens = torch.randint(4000, (16, 128))
        return model(input_ids=tokens, labels=tokens, use_cache=False).loss

    return model, loss


def called_leaves(model, loss):
    """The names of the modules without parts that a step calls."""
    called, hooks = set(), []
    for name, module in model.named_modules():
        if not module._modules:
            hooks.append(module.register_forward_pre_hook(lambda *_, name=name: called.add(name)))
    loss()
    for hook in hooks:
        hook.remove()
    return sorted(called)


def overhead(model, step, rounds):
    """Seconds of a step alone and recorded, in turns, and the seconds a step that timing the calls of modules takes."""
    from viridian.recording import kineto, module_scopes
    from viridian.recording.torch_recording import TorchRecording
    found, each, searching = [], 0.0, 0.0
    for turn in range(rounds + 1):
        times = {}
        for recorded in ((False, True) if turn % 2 == 0 else (True, False)):
            if recorded:
                recording = TorchRecording(torch, kineto, module_scopes, sys.argv[4] + ".trace.json.gz")
                recording.scopes.tree.learn(model, None)  # as `viridian.account` does
                recording.start()
            took = []
            for _ in range(4):
                begin = time.perf_counter()
                step()
                took.append(time.perf_counter() - begin)
            if recorded:
                about = recording.stop()
                searching = about["search_seconds"]
                each = 1e-9 * about["nanoseconds_each"] * about["calls"] / 4
            times[recorded] = statistics.median(took[1:])  # the first finds names
        found.append((times[False], times[True]))
    return {"rounds": found[1:], "calls_seconds": each, "search_seconds": searching}


def main():
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model, loss = {"resnet18": resnet18, "bert": bert, "llama": llama}[sys.argv[1]]()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def step():
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    mode, count = sys.argv[2], int(sys.argv[3])
    if mode == "train":
        for _ in range(WARMUP + count):
            step()
    elif mode == "account":
        with viridian.account(model, warmup=WARMUP, steps=count) as a:
            for _ in range(WARMUP + count):
                step()
                a.step()
        a.save(sys.argv[4])
        with open(sys.argv[4] + ".about", "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "leaves": called_leaves(model, loss), "overhead": a.overhead,
                       "modules": list(a.modules())}, file)
    else:
        for _ in range(WARMUP):
            step()
        with open(sys.argv[4], "w", encoding="utf-8") as file:
            json.dump(overhead(model, step, count), file)


main()
