#!/usr/bin/env python3
"""Writes the small inputs that golden cases need to stdout: `inputs.py NAME [NUMBER]`.

Models are written byte by byte, as protocol buffers of onnx.proto, because most of them are wrong on purpose. The trace
`layers` runs three layers twenty times; its power log `watts` says 100 W for the first layer and 200 W for the others,
and NUMBER W more. The trace `modules` is that of a PyTorch program whose second block is checkpointed, as `viridian record
--torch` writes it, under the same power log; `gpu_watts` is the same power as nvidia-smi logs it, `no_times` a log of
turbostat without times, `from_start` one of perf stat."""
import datetime
import json
import sys


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(index, value):
    """A field of a message: an integer, a text, or the bytes of another message."""
    if isinstance(value, int):
        return number(index << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(index << 3 | 2) + number(len(value)) + value


def typed(name, *dims, element=1):
    """ValueInfoProto: numbers are sizes, texts are symbolic dimensions."""
    shape = b"".join(field(1, field(2 if isinstance(dim, str) else 1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def node(operator, inputs, outputs, name, domain=""):
    return (b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in outputs) +
            field(3, name) + field(4, operator) + field(7, domain))


def floats(name, count, *dims, element=1):
    """TensorProto of `count` zeros that says it has the shape `dims`."""
    return b"".join(field(1, dim) for dim in dims) + field(2, element) + field(8, name) + field(9, bytes(4 * count))


def outside(name, place):
    """TensorProto of four floats in another file."""
    return field(1, 4) + field(2, 1) + field(8, name) + field(14, 1) + field(13, field(1, "location") + field(2, place))


def model(nodes, inputs, outputs, tensors=(), opset=17):
    graph = b"".join([*(field(1, one) for one in nodes), field(2, "g"), *(field(5, one) for one in tensors),
                      *(field(11, one) for one in inputs), *(field(12, one) for one in outputs)])
    return field(1, 8) + field(7, graph) + (field(8, field(1, "") + field(2, opset)) if opset else b"")


def relu(*dims):
    return model([node("Relu", ["x"], ["y"], "active")], [typed("x", *dims)], [typed("y", *dims)])


def two_inputs(*dims):
    return model([node("Add", ["x", "b"], ["y"], "sum")], [typed("x", 2, 3), typed("b", *dims)], [typed("y", 2, 3)])


def many_inputs(count):
    names = [f"x{i}" for i in range(count)]
    return model([node("Sum", names, ["y"], "sum")], [typed(name, 2, 3) for name in names], [typed("y", 2, 3)])


def shaped_by_data():
    """The distance between any two places of `x` that are not zero: its shape is known after NonZero has run."""
    nodes = [node("NonZero", ["x"], ["p"], "places"), node("Transpose", ["p"], ["q"], "upright"),
             node("Sub", ["p", "q"], ["d"], "apart"), node("ReduceMax", ["d"], ["y"], "furthest")]
    return model(nodes, [typed("x", "N")], [typed("y", 1, 1, element=7)])


def with_weights(tensor):
    return model([node("Add", ["x", "w"], ["y"], "sum")], [typed("x", 4)], [typed("y", 4)], [tensor])


def with_states(states):
    """w' = w + x, where the metadata says `states`; y = relu(w) reads the old w."""
    nodes = [node("Add", ["w", "x"], ["w.new"], "update"), node("Relu", ["w"], ["y"], "read")]
    return (model(nodes, [typed("x", 4), typed("w", 4)], [typed("y", 4), typed("w.new", 4)], [floats("w", 4, 4)]) +
            field(14, field(1, "viridian.states") + field(2, states)))


def one_state(before="w", after="w.new", role="parameter", more=""):
    return with_states(f'[{{"before":"{before}","after":"{after}","role":"{role}"{more}}}]')


X, Y = typed("x", 2, 3), typed("y", 2, 3)
MODELS = {
    "relu": lambda: relu(2, 3),
    "any_batch": lambda: relu("N", 3, "H", "W"),
    "two_inputs": lambda: two_inputs(2, 3),
    "many_inputs": lambda: many_inputs(12),
    "shaped_by_data": shaped_by_data,
    "shapes_differ": lambda: two_inputs(2, 4),
    "unknown_operator": lambda: model([node("Frobnicate", ["x"], ["y"], "odd")], [X], [Y]),
    "unknown_domain": lambda: model([node("Relu", ["x"], ["y"], "odd", "my.company")], [X], [Y]),
    "undefined_name": lambda: model([node("Relu", ["z"], ["y"], "active")], [X], [Y]),
    "defined_twice": lambda: model([node("Relu", ["x"], ["y"], "a"), node("Abs", ["x"], ["y"], "b")], [X], [Y]),
    "cycle": lambda: model([node("Relu", ["z"], ["y"], "a"), node("Abs", ["y"], ["z"], "b")], [X], [Y]),
    "too_many_inputs": lambda: model([node("Relu", ["x", "x"], ["y"], "active")], [X], [Y]),
    "no_output": lambda: model([node("Relu", ["x"], ["y"], "active")], [X], []),
    "output_of_nothing": lambda: model([], [X], [Y]),
    "no_opset": lambda: model([node("Relu", ["x"], ["y"], "active")], [X], [Y], opset=None),
    "old_opset": lambda: model([node("Relu", ["x"], ["y"], "active")], [X], [Y], opset=1),
    "future_opset": lambda: model([node("Relu", ["x"], ["y"], "active")], [X], [Y], opset=99),
    "short_tensor": lambda: with_weights(floats("w", 3, 4)),
    "text_tensor": lambda: with_weights(floats("w", 4, 4, element=8)),
    "outside_file": lambda: with_weights(outside("w", "../secret.bin")),
    "missing_file": lambda: with_weights(outside("w", "weights.bin")),
    "huge": lambda: relu(1 << 20, 1 << 21),
    "step": one_state,
    "states_are_no_list": lambda: with_states("{"),
    "state_of_unknown_role": lambda: one_state(role="weight"),
    "state_without_input": lambda: one_state(before="v"),
    "state_without_output": lambda: one_state(after="y.new"),
    "state_of_nothing": lambda: one_state(more=',"of":"w"'),
}
STEPS, LAYERS, BEGIN = 20, 3, 1_700_000_000_000_000  # microseconds


def layers():
    """A timeline as TensorFlow writes it: three layers, 10 ms each."""
    events = ['{"ph":"M","name":"process_name","pid":1,"args":{"name":"/job:a/device:CPU:0 Compute"}}']
    for run in range(STEPS * LAYERS):
        layer = run % LAYERS
        reads = f',"input0":"net/layer_{layer - 1}/dense/MatMul"' if layer else ""
        events.append(f'{{"ph":"X","cat":"Op","name":"MatMul","pid":1,"tid":0,"ts":{BEGIN + 10_000 * run},"dur":10000,'
                      f'"args":{{"name":"net/layer_{layer}/dense/MatMul","op":"MatMul"{reads}}}}}')
    return '{"traceEvents":[' + ",\n".join(events) + "]}\n"


def modules():
    """PyTorch, twenty steps of 30 ms: forward 10 ms, backward with a block that is computed again 15 ms, optimizer 5 ms."""
    rows = []

    def row(category, name, at, length, **arguments):
        rows.append((at, -length, {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": BEGIN + at,
                                   "dur": length, "args": arguments}))

    def module(path, kind, at, length):
        row("viridian_module", path.replace("/", "."), at, length, path=path, type=kind)

    for step in range(STEPS):
        at, sequence = 30_000 * step, 10 * step
        module("ResNet", "ResNet", at, 10_000)
        for number, begin in ((0, at), (1, at + 5_000)):
            module(f"ResNet/layer4/{number}", "Block", begin, 5_000)
            module(f"ResNet/layer4/{number}/conv2", "Conv2d", begin, 4_000)
            row("cpu_op", "aten::conv2d", begin, 4_000, **{"Sequence number": sequence + number})
            row("cpu_op", "aten::add", begin + 4_000, 1_000, **{"Sequence number": sequence + 2 + number})
        node = "autograd::engine::evaluate_function: "
        row("cpu_op", node + "CheckpointFunctionBackward", at + 10_000, 10_000, **{"Fwd thread id": 1})
        module("ResNet/layer4/1/conv2", "Conv2d", at + 10_000, 4_000)
        row("cpu_op", "aten::conv2d", at + 10_000, 4_000, **{"Sequence number": sequence + 5})
        row("cpu_op", node + "ConvolutionBackward0", at + 14_000, 6_000,
            **{"Sequence number": sequence + 5, "Fwd thread id": 1})
        row("cpu_op", node + "ConvolutionBackward0", at + 20_000, 5_000,
            **{"Sequence number": sequence, "Fwd thread id": 1})
        row("user_annotation", "Optimizer.step#SGD.step", at + 25_000, 5_000)
        row("cpu_op", "aten::add_", at + 25_000, 5_000)
    return json.dumps({"schemaVersion": 1, "traceEvents": [one for _, _, one in sorted(rows, key=lambda r: r[:2])]}) + "\n"


def gpu_watts():
    """100 W, then 200 W, every 10 ms, as `nvidia-smi --query-gpu=timestamp,index,power.draw.instant --format=csv` says."""
    lines = ["timestamp, index, power.draw.instant [W]"]
    for at in range(STEPS * LAYERS + 1):
        moment = datetime.datetime.fromtimestamp(BEGIN / 1e6 + at / 100, datetime.timezone.utc)
        lines.append(f"{moment:%Y/%m/%d %H:%M:%S}.{moment.microsecond // 1000:03}, 0, {100 if at < 30 else 200}.00 W")
    return "\n".join(lines) + "\n"


def no_times():
    return "Package\tPkgWatt\n0\t30.00\n"


def from_start():
    return "     0.100,10.00,Joules,power/energy-pkg/,100100200,100.00,,\n     0.700,60.00,Joules,power/energy-pkg/,1,1.0,,\n"


def watts(more=0):
    """The counter of the processor's energy, read every millisecond."""
    lines, energy = ["time_ns,meter,device,scope,kind,value,window_ns"], 0
    for at in range(STEPS * LAYERS * 10 + 1):
        lines.append(f"{BEGIN + 1000 * at}000,powercap,cpu:0,package,energy_uj,{energy},")
        energy += 1000 * ((100 if at // 10 % LAYERS == 0 else 200) + int(more))
    return "\n".join(lines) + "\n"


TEXTS = {"layers": layers, "watts": watts, "modules": modules, "gpu_watts": gpu_watts, "no_times": no_times,
         "from_start": from_start}


def main():
    name, *rest = sys.argv[1:]
    made = MODELS[name]() if name in MODELS else TEXTS[name](*rest).encode()
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
