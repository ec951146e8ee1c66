"""Viridian measures where a neural network's energy goes, and lowers it while the outputs stay the same.

    import viridian
    with viridian.measure("epoch 3") as m: ...                      # joules of a block
    with viridian.account(model, warmup=3, steps=20) as a: ...      # joules by module of a PyTorch program
    net = viridian.optimize(model, example_inputs=(x,)); y = net(x)   # a cheaper plan, called like a function
    session = viridian.InferenceSession("model.onnx")               # ONNX Runtime's names

docs/python.md is the guide."""
from __future__ import annotations

from ._core import version as _version
from .accounting import Account, Rows, read
from .comparing import Change, Difference, EnergyIncreased, diff
from .errors import Error, EstimateWarning, InputError, InternalError, MachineError
from .iobinding import IOBinding
from .measuring import Energy, Measurement, measure
from .network import Network
from .optimizing import Optimized, OptimizedSizes, load, optimize
from .ranks import merge
from .recorder import Recording, account
from .session import InferenceSession, NodeArg, SessionOptions
from .sizes import Sizes

__version__: str = _version()
__all__ = ["Account", "Change", "Difference", "Energy", "EnergyIncreased", "Error", "EstimateWarning", "IOBinding",
           "InferenceSession", "InputError", "InternalError", "MachineError", "Measurement", "Network", "NodeArg",
           "Optimized", "OptimizedSizes", "Recording", "Rows", "SessionOptions", "Sizes", "account", "diff", "load",
           "measure", "merge", "optimize", "read"]
