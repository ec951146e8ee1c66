"""PyTorch on given branches: see branches.py."""
import collections

import numpy
import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

OPERATORS = {"relu": "Relu", "relu_": "Relu", "relu6": "Clip", "hardtanh": "Clip", "hardtanh_": "Clip", "leaky_relu": "LeakyRelu",
             "hardswish": "HardSwish", "clamp": "clamp", "max_pool2d": "MaxPool", "_max_pool2d": "MaxPool"}
SLOPE = float(numpy.float32(1 / 6))  # of HardSigmoid, whose clamp is from 0 to 1


def operator_of(function, args, kwargs):
    """The operator with a kink, or None. A clamp from one side alone belongs to SELU, whose slope does not jump where it clamps."""
    op = OPERATORS.get(getattr(function, "__name__", ""))
    return None if op == "clamp" and len(args) + len(kwargs) < 3 else op


class Keep(TorchFunctionMode):
    """Keeps the input of every function with a kink, with its operator, in `kept`."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        op = operator_of(function, args, kwargs)
        if op:
            self.kept.append((op, args[0].detach().numpy().copy()))
        return function(*args, **kwargs)


class Force(TorchFunctionMode):
    """Functions with kinks take the branches of another run. `given`: the inputs that they had there, as `Keep` or a run of an
    exported model gives them. Counts the elements that would have taken another branch as `apart`."""

    def __init__(self, given):
        super().__init__()
        self.given, self.apart = collections.defaultdict(collections.deque), 0
        for op, array in given:
            self.given[op].append(torch.from_numpy(array))

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        op = operator_of(function, args, kwargs)
        if op is None:
            return function(*args, **kwargs)
        return self.forced(op, args[0], self.next_of(op, args[0]), args[1:], kwargs)

    def next_of(self, op, x):
        """What the other run has for x."""
        if op == "clamp" and not self.given[op]:
            like = self.next_of("HardSigmoid", x) * SLOPE + 0.5
        elif not self.given[op]:
            raise ValueError(f"the other run has fewer of {op}")
        else:
            like = self.given[op].popleft().to(x.dtype)
        if like.shape != x.shape:
            raise ValueError(f"{op} reads {list(x.shape)} here and {list(like.shape)} in the other run")
        return like

    def end(self):
        for op, arrays in self.given.items():
            if arrays:
                raise ValueError(f"the other run has more of {op}")

    def forced(self, op, x, like, args, kwargs):
        if op == "MaxPool":
            options = dict(zip(("kernel_size", "stride", "padding", "dilation", "ceil_mode"), args), **kwargs)
            options["return_indices"] = True
            places = functional.max_pool2d(like, **options)[1]
            self.apart += int((places != functional.max_pool2d(x.detach(), **options)[1]).sum())
            return x.flatten(2).gather(2, places.flatten(2)).view(places.shape)
        low, high = {"Clip": (0, 6), "HardSwish": (-3, 3), "clamp": (0, 1)}.get(op, (0, float("inf")))
        self.apart += int((((x > low) != (like > low)) | ((x >= high) != (like >= high))).sum())
        slope = (args[0] if args else kwargs.get("negative_slope", 0.01)) if op == "LeakyRelu" else 0
        below = slope * x if slope else torch.full_like(x, 0 if op == "HardSwish" else low)
        above = x if op == "HardSwish" else torch.full_like(x, high)
        inside = x * (x + 3) / 6 if op == "HardSwish" else x
        return torch.where(like <= low, below, torch.where(like >= high, above, inside))
