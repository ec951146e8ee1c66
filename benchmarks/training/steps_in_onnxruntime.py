"""ONNX Runtime runs the training steps of the zoo's networks, with the loss and the gradients that Viridian computes.

steps_in_onnxruntime.py VIRIDIAN [NETWORK...] [--small] [--kept FILE.json] [--page FILE.md]     (in the peers' environment: make peers)

`viridian zoo NAME --training` writes a network, `viridian gradient --gradients` its step, and both programs run one step of it
on the same inputs, from the first values of the states. Dropout is on: ONNX Runtime draws the same masks, because the function
DropoutMask computes them in standard operators. Compared are the loss, every gradient, and every moment and running statistic
after the step. The networks have small batches, some of them smaller images, and the transformers fewer layers and shorter
sentences than published, as the table says; --small leaves out those that take longer than a few seconds. --kept holds the rows
of a run that was stopped, which goes on from there.

A rectifier whose input is zero except for rounding may open in one program and not in the other, and a maximum may have another
place. One such element of n moves the gradients before it by about 1 / sqrt(n), and a large image has millions. Where the steps
differ, Viridian computes the step once more on the branches that ONNX Runtime took: a copy of the network has them as constants
(branches.py). Its results are compared with those of ONNX Runtime's step, which is unchanged, and the table says how many
elements are on different branches, and what the first of them is in both programs.

Deep networks amplify rounding. Where the steps differ on the same branches too, ONNX Runtime runs the step of these branches
again with every weight and input moved to the next number of f32, up or down at random. If that moves its own results as far,
except for a factor of 3, the difference says nothing about either program.
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

import branches
import distance

onnxruntime.set_default_logger_severity(4)
ALLOWED = 1e-4
NEAR = 3  # times as far as moved weights move a step
LEAST, ZERO = 1e-2, 1e-3  # of the median size of gradients: less than LEAST is rounding in f32, less than ZERO nothing else
TWO = ["--batch", "2"]
LAYER = ["--batch", "2", "--sequence", "12", "--hidden", "128", "--heads", "4"]
SENTENCE = ["--batch", "2", "--sequence", "16"]
# name: (options of zoo, options of gradient, size of images if it is not the published one)
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
    "mobilenet_v2": (["--batch", "4"], [], 96),
    "resnet18": (["--batch", "4"], [], 96),
    "resnet50": (["--batch", "4"], [], 96),
    "inception_v3": (["--batch", "4"], [], 139),
    "bert_base": (SENTENCE + ["--layers", "2"], ["--loss", "mse"]),
    "bert_large": (SENTENCE + ["--layers", "2"], ["--loss", "mse", "--optimizer", "sgd"]),
    "albert_base": (SENTENCE + ["--layers", "2"], ["--loss", "mse"]),
    "gpt2": (SENTENCE + ["--layers", "2"], []),
    "gpt2_medium": (SENTENCE + ["--layers", "2"], ["--optimizer", "sgd"]),
    "vgg16": (TWO, ["--optimizer", "sgd"]),
    "resnet152": (["--batch", "4"], ["--optimizer", "sgd"], 96),
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


def resize(path, size):
    """Gives a network of images another size. Layers behind a global average do not notice."""
    model = onnx.load(str(path))
    for axis in (2, 3):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = size
    del model.graph.value_info[:]
    onnx.save(model, str(path))


class Step:
    """The training step of a network of the zoo, which both programs run on the same inputs."""

    def __init__(self, viridian, name, folder):
        zoo, self.options, *size = NETWORKS[name]
        self.viridian, self.folder = viridian, folder
        self.loss = self.options[self.options.index("--loss") + 1] if "--loss" in self.options else "cross-entropy"
        self.optimizer = self.options[self.options.index("--optimizer") + 1] if "--optimizer" in self.options else "adamw"
        call(viridian, "zoo", name, "--training", *zoo, "-o", folder / "model.onnx")
        if size:
            resize(folder / "model.onnx", size[0])
        self.parameters = self.write("model.onnx")
        self.arrays = inputs_of(self.session(), self.loss, 1)

    def write(self, model):
        """The step of a model of the folder. Returns the number of parameters."""
        told = json.loads(call(self.viridian, "gradient", self.folder / model, *self.options, "--gradients", "--json", "-o",
                               self.folder / "step.onnx"))
        return len(told["parameters"])

    def session(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        return onnxruntime.InferenceSession(str(self.folder / "step.onnx"), options, providers=["CPUExecutionProvider"])

    def theirs(self):
        """What ONNX Runtime computes, by name."""
        session = self.session()
        return dict(zip([entry.name for entry in session.get_outputs()], session.run(None, self.arrays)))

    def ours(self):
        given = []
        for i, (name, value) in enumerate(self.arrays.items()):
            numpy.save(self.folder / f"input{i}.npy", value)
            given += ["--inputs", f"{name}={self.folder}/input{i}.npy"]
        told = json.loads(call(self.viridian, "run", self.folder / "step.onnx", "--rounds", 0, "--json", "-o", self.folder / "outputs", *given))
        return {entry["name"]: numpy.load(entry["file"]) for entry in told["outputs"]}

    def parts(self, outputs):
        """(loss, gradients by parameter, states after the step by their names before it)"""
        model = onnx.load(str(self.folder / "step.onnx"), load_external_data=False)
        states = json.loads(next(entry.value for entry in model.metadata_props if entry.key == "viridian.states"))
        # A parameter that Adam has moved says little: it divides by the size of a gradient, which may be rounding alone.
        compared = ["moment", "statistic"] + (["parameter"] if self.optimizer == "sgd" else [])
        gradients = {name.removesuffix(".gradient"): value for name, value in outputs.items() if name.endswith(".gradient")}
        if len(gradients) != self.parameters:
            raise RuntimeError(f"{len(gradients)} gradients of {self.parameters} parameters")
        sizes = {name: numpy.linalg.norm(value) / value.size ** 0.5 for name, value in gradients.items()}
        rounding = {name for name, size in sizes.items() if size < LEAST * numpy.median(list(sizes.values()))}
        after = {state["before"]: outputs[state["after"]] for state in states
                 if state["role"] in compared and state.get("of", state["before"]) not in rounding}
        return float(outputs["loss"]), gradients, after


class Difference:
    """How far the parts of two steps are from each other."""

    def __init__(self, mine, theirs):
        self.loss = abs(mine[0] - theirs[0]) / abs(theirs[0])
        self.gradient, self.place = distance.worst(mine[1], theirs[1], LEAST, ZERO)
        self.state = distance.worst(mine[2], theirs[2], LEAST)[0] if theirs[2] else 0.0

    def most(self):
        return max(self.loss, self.gradient, self.state)


def moved(step):
    """ONNX Runtime's results if every weight and input is moved by one rounding, which shows how far rounding moves the step."""
    numbers = numpy.random.default_rng(2)

    def move(array):
        if array.dtype != numpy.float32:
            return array
        return numpy.nextafter(array, numpy.where(numbers.random(array.shape) < 0.5, -numpy.inf, numpy.inf).astype(numpy.float32))

    model = onnx.load(str(step.folder / "step.onnx"))
    weights = {entry.name: move(onnx.numpy_helper.to_array(entry)) for entry in model.graph.initializer
               if entry.name + ".gradient" in {output.name for output in model.graph.output}}
    session = step.session()
    given = {name: move(value) for name, value in step.arrays.items() if name != "viridian.rate"} | weights
    return dict(zip([entry.name for entry in session.get_outputs()], session.run(None, step.arrays | given)))


def on_branches(step):
    """The difference on the branches of ONNX Runtime, that of moved weights there if the first is too large, and what is on others."""
    branches.show(step.folder / "step.onnx")
    theirs, mine = step.theirs(), step.ours()
    taken = branches.Branches(step.folder / "model.onnx")
    count, total, first = taken.apart(mine, theirs)
    wanted = step.parts(theirs)
    taken.force(theirs, step.folder / "forced.onnx")
    step.write("forced.onnx")
    same = Difference(step.parts(step.ours()), wanted)
    rounding = None if same.most() <= ALLOWED else Difference(step.parts(moved(step)), wanted)
    return same, rounding, f"{count} of {total:.1e}" + (f", first {first}" if first else "")


def judge(viridian, name):
    """A row of the table, whose last cell is `yes`, `on the same branches`, `as far as rounding` or `no`."""
    with tempfile.TemporaryDirectory() as folder:
        step = Step(viridian, name, pathlib.Path(folder))
        theirs = step.parts(step.theirs())
        plain = Difference(step.parts(step.ours()), theirs)
        same, apart, within = "", "", "yes"
        if not plain.most() <= ALLOWED:
            forced, rounding, apart = on_branches(step)
            same, within = f"{forced.most():.1e}", "on the same branches"
            if rounding:
                same += f"; {rounding.most():.1e} by moved weights"
                within = "as far as rounding" if forced.most() <= NEAR * rounding.most() else "**no**"
            if not plain.loss <= ALLOWED:
                within = "**no**"
    size = [f"image {NETWORKS[name][2]}"] if len(NETWORKS[name]) > 2 else []
    return [name, " ".join(NETWORKS[name][0] + size).replace("--", ""), f"{step.loss}, {step.optimizer}", step.parameters, f"{theirs[0]:.5g}",
            f"{plain.loss:.1e}", f"{plain.gradient:.1e} ({plain.place})", f"{plain.state:.1e}", apart, same, within]


def told(rows):
    plain = sum(row[-1] == "yes" for row in rows)
    same = sum(row[-1].startswith("on") for row in rows)
    rounding = sum(row[-1].startswith("as") for row in rows)
    more = f"; {rounding} more are at most {NEAR} times as far as rounding of the weights moves them" if rounding else ""
    return (f"{plain} of {len(rows)} steps in ONNX Runtime {onnxruntime.__version__} as in Viridian, to {ALLOWED:g}; {same} more on the "
            f"same branches{more}")


def write(options, rows):
    import page
    head = ["network", "size", "loss, optimiser", "gradients", "loss", "loss, relative difference", "largest difference of a gradient",
            "of a state after the step", "elements on different branches, as Viridian and ONNX Runtime read them",
            "largest difference on the same branches", "within 1e-4"]
    parts = [" ".join(part.split()) for part in __doc__.strip().split("\n\n")[2:]]
    page.write(options.page, "Training steps in ONNX Runtime", *parts, told(rows) + ".", page.table(head, rows),
               "The difference of a gradient is relative, in L2; a small one counts as if it had a hundredth of the median size of the "
               "network's gradients, and one that is zero except for rounding, such as that of a bias before a normalisation, as if it had the "
               "median size (below a thousandth of it). States are moments and running statistics, with SGD the parameters too, except those whose gradient is "
               "rounding alone.", page.settings(options.viridian, f"ONNX Runtime {onnxruntime.__version__}"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kept", help="rows of an earlier run that was stopped, and of this one")
    parser.add_argument("--page")
    options = parser.parse_args()
    listed = [entry["name"] for entry in json.loads(call(options.viridian, "zoo", "--json"))["networks"]]
    unknown = sorted(set(listed) ^ set(NETWORKS))
    kept = pathlib.Path(options.kept) if options.kept else None
    known = json.loads(kept.read_text()) if kept and kept.exists() else {}
    rows = []
    for name in options.networks or (SMALL if options.small else NETWORKS):
        if name not in known:
            try:
                known[name] = judge(options.viridian, name)
            except Exception as problem:  # a step that cannot run is a row of the table
                known[name] = [name, "", "", 0, "", "", str(problem)[:300], "", "", "", "**no**"]
            print("  ".join(map(str, known[name])), flush=True)
            if kept:
                kept.write_text(json.dumps(known))
        rows.append(known[name])
        if options.page:
            write(options, rows)
    print(told(rows))
    if unknown:
        print(f"not in this script's list, or not in the zoo: {' '.join(unknown)}")
    return 1 if any(row[-1] == "**no**" for row in rows) or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
