"""Modules of PyTorch as files in ONNX."""
from __future__ import annotations

import inspect
import os
import sys
import warnings
from typing import Any

from .errors import InputError


def is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def export(module: Any, example_inputs: Any, folder: str) -> str:
    """The file of a torch.nn.Module in ONNX."""
    import torch
    if example_inputs is None:
        raise InputError("invalid_argument", "a module of PyTorch is exported by running it once",
                         "give example_inputs=(x,), tensors of the shapes that it will get")
    inputs = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    names = [name for name, one in inspect.signature(module.forward).parameters.items()
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][:len(inputs)]
    path, was_training = os.path.join(folder, f"{type(module).__name__}.onnx"), module.training
    options: dict[str, Any] = {"input_names": names if len(names) == len(inputs) else None}
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False  # the newer exporter needs packages that torch does not bring
    module.eval()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, path, **options)
    except Exception as error:
        raise InputError("unsupported", f"PyTorch cannot export the module to ONNX: {error}",
                         "export it yourself, and give the file") from error
    finally:
        module.train(was_training)
    return path
