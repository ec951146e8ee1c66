"""ONNX Runtime runs the training steps of the zoo's networks, with the loss and the gradients that Viridian computes.

steps_in_onnxruntime.py VIRIDIAN [NETWORK...] [--small] [--page FILE.md]     (in the peers' environment: make peers)

`viridian zoo NAME --training` writes a network, `viridian gradient --gradients` its step, and both programs run one step of it
on the same inputs, from the first values of the states. Dropout is on: ONNX Runtime draws the same masks, because the function
DropoutMask computes them in standard operators. Compared are the loss, every gradient, and every moment and running statistic
after the step. The networks have small batches, and the transformers fewer layers and shorter sentences than published, as the
table says; --small leaves out those that take longer than a few seconds.

A rectifier whose input is zero except for rounding may open in one program and not in the other, and a maximum may have another
place. One such element of n moves the gradients before it by about 1 / sqrt(n), and a large image has millions. Where that
happens, the inputs are drawn anew, three times at most, and then the network is compared in a smooth form too: Elu for Relu and
Clip, AveragePool for MaxPool.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

import distance

onnxruntime.set_default_logger_severity(4)
ALLOWED, DRAWS = 1e-4, 3
LEAST = 1e-2  # of the median size of gradients: less is rounding in f32
TWO = ["--batch", "2"]
LAYER = ["--batch", "2", "--sequence", "12", "--hidden", "128", "--heads", "4"]
SENTENCE = ["--batch", "2", "--sequence", "16"]
# name: (options of zoo, options of gradient)
NETWORKS = {
    "mlp": (["--batch", "5"], []),
    "small_cnn": (["--batch", "5"], ["--clip", "1"]),
    "small_resnet": (["--batch", "5"], ["--optimizer", "sgd", "--momentum", "0.9", "--nesterov"]),
    "small_transformer": (["--batch", "3", "--sequence", "20"], []),
    "encoder_layer": (LAYER + ["--mask", "padding"], ["--loss", "mse", "--optimizer", "lamb"]),
    "mha": (LAYER + ["--attention", "cross", "--keys", "9"], ["--loss", "huber", "--optimizer", "adam"]),
    "decoder_attention": (LAYER, ["--loss", "l1", "--optimizer", "rmsprop"]),
    "dcgan_generator": (TWO, ["--loss", "mse"]),
    "dcgan_discriminator": (TWO, ["--loss", "bce"]),
    "squeezenet1_0": (TWO, []),
    "squeezenet1_1": (TWO, []),
    "alexnet": (TWO, ["--optimizer", "sgd"]),
    "mobilenet_v2": (["--batch", "4"], []),
    "resnet18": (TWO, []),
    "resnet50": (TWO, []),
    "inception_v3": (TWO, []),
    "bert_base": (SENTENCE + ["--layers", "2"], ["--loss", "mse"]),
    "bert_large": (SENTENCE + ["--layers", "2"], ["--loss", "mse", "--optimizer", "sgd"]),
    "albert_base": (SENTENCE + ["--layers", "2"], ["--loss", "mse"]),
    "gpt2": (SENTENCE + ["--layers", "2"], []),
    "gpt2_medium": (SENTENCE + ["--layers", "2"], ["--optimizer", "sgd"]),
    "vgg16": (TWO, ["--optimizer", "sgd"]),
    "resnet152": (TWO, ["--optimizer", "sgd"]),
}
SMALL = ["mlp", "small_cnn", "small_resnet", "small_transformer", "encoder_layer", "mha", "decoder_attention", "dcgan_discriminator"]


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout


def inputs_of(session, loss, seed):
    """Random inputs. Attention masks leave out the last token, and labels are classes or targets as the loss asks."""
    numbers = numpy.random.default_rng(seed)
    arrays = {}
    for entry in session.get_inputs():
        if entry.name == "viridian.rate":
            arrays[entry.name] = numpy.float32(0.01)
        elif entry.name.startswith("viridian."):
            arrays[entry.name] = numpy.int64(11)
        elif entry.name == "labels" and loss == "bce":
            arrays[entry.name] = numbers.random(entry.shape).astype(numpy.float32)
        elif entry.type == "tensor(int64)":
            mask = entry.name == "attention_mask"
            arrays[entry.name] = numbers.integers(0, 2 if "type" in entry.name else 10, entry.shape)
            if mask:
                arrays[entry.name][:] = 1
                arrays[entry.name][:, -1] = 0
        elif entry.type == "tensor(bool)":
            arrays[entry.name] = numpy.zeros(entry.shape, bool)
            arrays[entry.name][:, -1] = True
        else:
            arrays[entry.name] = numbers.standard_normal(entry.shape).astype(numpy.float32)
    return {name: numpy.asarray(value) for name, value in arrays.items()}


def ours(viridian, folder, arrays):
    given = []
    for i, (name, value) in enumerate(arrays.items()):
        numpy.save(folder / f"input{i}.npy", value)
        given += ["--inputs", f"{name}={folder}/input{i}.npy"]
    told = json.loads(call(viridian, "run", folder / "step.onnx", "--rounds", 0, "--json", "-o", folder / "outputs", *given))
    return {entry["name"]: numpy.load(entry["file"]) for entry in told["outputs"]}


def smooth(path):
    """Replaces the operators whose slope jumps."""
    model = onnx.load(str(path))
    for node in model.graph.node:
        if node.op_type in ("Relu", "Clip"):
            node.op_type = "Elu"
            del node.input[1:]
        elif node.op_type == "MaxPool":
            node.op_type = "AveragePool"
            kept = [attribute for attribute in node.attribute if attribute.name in ("kernel_shape", "strides", "pads", "ceil_mode")]
            del node.attribute[:]
            node.attribute.extend(kept)
    onnx.save(model, str(path))


class Step:
    """The training step of a network of the zoo, in both programs."""

    def __init__(self, viridian, name, folder, smoothly=False):
        zoo, gradient = NETWORKS[name]
        self.viridian, self.folder = viridian, folder
        self.loss = gradient[gradient.index("--loss") + 1] if "--loss" in gradient else "cross-entropy"
        self.optimizer = gradient[gradient.index("--optimizer") + 1] if "--optimizer" in gradient else "adamw"
        call(viridian, "zoo", name, "--training", *zoo, "-o", folder / "model.onnx")
        if smoothly:
            smooth(folder / "model.onnx")
        self.told = json.loads(call(viridian, "gradient", folder / "model.onnx", *gradient, "--gradients", "--json", "-o",
                                    folder / "step.onnx"))
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self.session = onnxruntime.InferenceSession(str(folder / "step.onnx"), options, providers=["CPUExecutionProvider"])
        self.states = json.loads(self.session.get_modelmeta().custom_metadata_map["viridian.states"])

    def compare(self, seed):
        """(loss, and the differences of loss, gradients and states, the worst gradient)"""
        names = [entry.name for entry in self.session.get_outputs()]
        arrays = inputs_of(self.session, self.loss, seed)
        theirs = dict(zip(names, self.session.run(None, arrays)))
        mine = ours(self.viridian, self.folder, arrays)
        missing = [output for output in names if output not in mine]
        if missing:
            raise RuntimeError(f"viridian gives no `{missing[0]}`")
        gradients = {output: value for output, value in theirs.items() if output.endswith(".gradient")}
        if len(gradients) != len(self.told["parameters"]):
            raise RuntimeError(f"{len(gradients)} gradients of {len(self.told['parameters'])} parameters")
        # A parameter that Adam has moved says little: it divides by the size of a gradient, which may be rounding alone.
        compared = ["moment", "statistic"] + (["parameter"] if self.optimizer == "sgd" else [])
        sizes = {output: numpy.linalg.norm(value) / value.size ** 0.5 for output, value in gradients.items()}
        rounding = {output for output, size in sizes.items() if size < LEAST * numpy.median(list(sizes.values()))}
        states = {state["after"]: theirs[state["after"]] for state in self.states
                  if state["role"] in compared and state.get("of", state["before"]) + ".gradient" not in rounding}
        first = abs(float(mine["loss"]) - float(theirs["loss"])) / abs(float(theirs["loss"]))
        error, place = distance.worst(mine, gradients, LEAST)
        after = distance.worst(mine, states, LEAST)[0] if states else 0.0
        return float(theirs["loss"]), first, error, after, place.removesuffix(".gradient")


def judge(viridian, name):
    """A row of the table, and whether the step agrees."""
    with tempfile.TemporaryDirectory() as folder:
        step = Step(viridian, name, pathlib.Path(folder))
        for draw in range(1, DRAWS + 1):
            loss, first, error, after, place = step.compare(draw)
            if max(first, error, after) <= ALLOWED:
                break
    good = max(first, error, after) <= ALLOWED
    smoothly = ""
    if not good:
        with tempfile.TemporaryDirectory() as folder:
            differences = Step(viridian, name, pathlib.Path(folder), True).compare(1)[1:4]
        smoothly = f"{max(differences):.1e}"
        within = "in the smooth form" if first <= ALLOWED and max(differences) <= ALLOWED else "**no**"
    else:
        within = "yes" if draw == 1 else f"yes, inputs {draw}"
    row = [name, " ".join(NETWORKS[name][0]).replace("--", ""), f"{step.loss}, {step.optimizer}", len(step.told["parameters"]), f"{loss:.5g}",
           f"{first:.1e}", f"{error:.1e} ({place})", f"{after:.1e}", smoothly, within]
    return row, within != "**no**"


def told(rows):
    plain = sum(row[-1].startswith("yes") for row in rows)
    smoothly = sum(row[-1].startswith("in") for row in rows)
    return (f"{plain} of {len(rows)} steps in ONNX Runtime {onnxruntime.__version__} as in Viridian, to {ALLOWED:g}; {smoothly} more in their "
            "smooth form")


def write(options, rows):
    import page
    head = ["network", "size", "loss, optimiser", "gradients", "loss", "loss, relative difference", "largest difference of a gradient",
            "of a state after the step", "largest of the smooth form", "within 1e-4"]
    parts = [" ".join(part.split()) for part in __doc__.strip().split("\n\n")[2:]]
    page.write(options.page, "Training steps in ONNX Runtime", *parts, told(rows) + ".", page.table(head, rows),
               "The difference of a gradient is relative, in L2; one that is zero except for rounding counts as if it had a hundredth of "
               "the median size. States are moments and running statistics, with SGD the parameters too, except those whose gradient is "
               "rounding alone.", page.settings(options.viridian, f"ONNX Runtime {onnxruntime.__version__}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--page")
    options = parser.parse_args()
    listed = [entry["name"] for entry in json.loads(call(options.viridian, "zoo", "--json"))["networks"]]
    unknown = sorted(set(listed) ^ set(NETWORKS))
    rows, failed = [], []
    for name in options.networks or (SMALL if options.small else NETWORKS):
        try:
            row, good = judge(options.viridian, name)
        except Exception as problem:  # a step that cannot run is a row of the table
            row, good = [name, "", "", 0, "", "", str(problem)[:300], "", "", "**no**"], False
        print(f"{'ok    ' if good else 'FAILED'} " + "  ".join(map(str, row)), flush=True)
        rows.append(row)
        failed += [] if good else [name]
        if options.page:
            write(options, rows)
    print(told(rows))
    if unknown:
        print(f"not in this script's list, or not in the zoo: {' '.join(unknown)}")
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
