"""Measures how far PyTorch's gradients in bf16 are from its gradients in double, on the weights and inputs of Viridian's step files.

bf16_errors.py --viridian BIN --work FOLDER [--tasks a,b] [--page FILE.md]
FOLDER is that of speed.py, which wrote the step files and inputs. Needs PyTorch and onnx.

The error of a gradient is its relative L2 distance from the gradient in double. The last column is the same for the squares of the
gradients, which AdamW averages. A norm counts as at least 1/100 of the root mean square over all parameters. The error budget of
Viridian's plans (docs/method.md, 4) limits similar errors to 0.0447. The tasks are encoder layers without dropout."""
import argparse
import contextlib
import pathlib

import numpy
import onnx
import torch
from onnx import numpy_helper

import page
import worker_training
from speed_tasks import TASKS


def weights_of(step):
    """The parameters of a step file, whose products are x·W, under PyTorch's names and for its x·Wᵀ."""
    given = {i.name: torch.from_numpy(numpy_helper.to_array(i).T.copy()) for i in onnx.load(step).graph.initializer}
    for kind in ("weight", "bias"):
        given[f"self_attn.in_proj_{kind}"] = torch.cat([given.pop(f"self_attn.{name}_proj.{kind}") for name in "qkv"])
    return given


def gradients_of(model, x, labels, autocast):
    model.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16) if autocast else contextlib.nullcontext():
        loss = torch.nn.functional.mse_loss(model(x), labels)
    loss.backward()
    return {name: parameter.grad.double() for name, parameter in model.named_parameters()}


def worst(found, wanted):
    """(the largest error, the parameter's name)"""
    typical = (sum((value ** 2).sum() for value in wanted.values()) / sum(value.numel() for value in wanted.values())) ** 0.5
    errors = {name: float((found[name] - value).norm() / max(value.norm(), typical * value.numel() ** 0.5 / 100))
              for name, value in wanted.items()}
    return max((error, name) for name, error in errors.items())


def squares(gradients):
    return {name: value ** 2 for name, value in gradients.items()}


def rows_of(name, work):
    model = worker_training.build(TASKS[name]).train()
    weights = weights_of(work / name / f"{name}.onnx")
    model.load_state_dict({key: weights[key] for key in model.state_dict()})
    x, labels = (torch.from_numpy(numpy.load(work / name / "inputs" / f"{file}.npy")) for file in ("input", "labels"))
    wanted = gradients_of(model.double(), x.double(), labels.double(), False)
    ways = {"f32": lambda: gradients_of(model.float(), x, labels, False),
            "bf16 by autocast": lambda: gradients_of(model.float(), x, labels, True),
            "weights in bf16": lambda: gradients_of(model.bfloat16(), x.bfloat16(), labels.bfloat16(), False)}
    for way, run in ways.items():
        model.load_state_dict({key: weights[key] for key in model.state_dict()})
        found = run()
        told = [f"{error:.2g} ({place})" for error, place in (worst(found, wanted), worst(squares(found), squares(wanted)))]
        print(name, way, *told, flush=True)
        yield [name, way, *told]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viridian", required=True, help="whose version the page names")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", default="encoder_b4_s128,encoder_b8_s512")
    parser.add_argument("--page", default="")
    options = parser.parse_args()
    rows = [row for name in options.tasks.split(",") for row in rows_of(name, options.work)]
    if options.page:
        page.write(options.page, "PyTorch's gradients in bf16", __doc__.split("\n\n")[2].replace("\n", " "),
                   page.table(["step", "PyTorch's mode", "worst gradient", "worst square of a gradient"], rows),
                   page.settings(options.viridian, f"PyTorch {torch.__version__}"))


if __name__ == "__main__":
    main()
