"""Which branch each element of a network takes: whether a rectifier lets it through, and which element a maximum takes.

Where the input of a rectifier is zero except for rounding, two correct programs may take different branches, and one element
of n moves all gradients before it by about 1 / sqrt(n). Gradients of two programs are therefore compared on the branches of
one of them, too: there, both compute the same smooth function. `show` makes the inputs of such operators outputs of a step
file, and `Branches` compares the branches of two runs and writes a model that takes given ones. branches_of_torch.py does
that in PyTorch.
"""
import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

KINKED = ("Relu", "Clip", "LeakyRelu", "HardSwish", "HardSigmoid", "MaxPool")


def show(path):
    """Makes the inputs of forward operators with kinks outputs of the step file. Returns (operator, name of its input) for each
    of them, in the order of the file."""
    model = onnx.load(str(path))
    found = [(node.op_type, node.input[0]) for node in model.graph.node
             if node.op_type in KINKED and not node.domain and ".gradient" not in node.name]
    known = {entry.name for entry in list(model.graph.output) + list(model.graph.input)}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(name for _, name in found) if name not in known)
    onnx.save(model, str(path))
    return found


def places_of(node, x):
    """The place of the element that each element of a MaxPool's output takes, as ONNX counts it: over the whole of x."""
    pool = onnx.NodeProto()
    pool.CopyFrom(node)
    del pool.input[:], pool.output[:]
    pool.input.append("x")
    pool.output.extend(["y", "places"])
    graph = helper.make_graph([pool], "pool", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)],
                              [helper.make_empty_tensor_value_info("places")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(["places"], {"x": x})[0]


class Branches:
    """The branches of a model's operators. Values of their inputs are by name."""

    def __init__(self, path):
        self.model = onnx.load(str(path))
        self.constants = {entry.name: numpy_helper.to_array(entry).item() for entry in self.model.graph.initializer if sum(entry.dims) <= 1}
        self.nodes = [node for node in self.model.graph.node if node.op_type in KINKED]

    def limits(self, node):
        return [self.constants[name] for name in node.input[1:3]]

    def taken(self, node, x):
        """The branch of each element of the input x, or the place of each element of a maximum."""
        if node.op_type == "MaxPool":
            return places_of(node, x)
        if node.op_type == "Clip":
            low, high = self.limits(node)
            return (x > low).astype(int) + (x >= high)
        return (x > 0).astype(int)

    def apart(self, ours, theirs):
        """(number of elements on different branches, number of all, the first of them in words)"""
        count, total, words = 0, 0, ""
        for node in self.nodes:
            one, two = ours[node.input[0]], theirs[node.input[0]]
            differ = numpy.argwhere(self.taken(node, one) != self.taken(node, two))
            count, total = count + len(differ), total + one.size
            if len(differ) and not words:
                place = tuple(differ[0])
                words = f"{node.name}[{','.join(map(str, place))}]"
                if node.op_type != "MaxPool":
                    words += f" of {one[place]:.1e} and {two[place]:.1e}"
        return count, total, words

    def force(self, values, path):
        """Writes the model with the branches of `values` as constants: a rectifier becomes Where, a maximum becomes Gather."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.node[:]

        def constant(name, value):
            model.graph.initializer.append(numpy_helper.from_array(numpy.asarray(value), name))
            return name

        for node in self.model.graph.node:
            if node.op_type not in KINKED:
                model.graph.node.append(node)
                continue
            x, name, y = node.input[0], node.name or node.output[0], node.output[0]
            branch = self.taken(node, values[x])
            if node.op_type == "MaxPool":
                made = [("Reshape", [x, constant(name + "/row", [-1])], name + "/elements"),
                        ("Gather", [name + "/elements", constant(name + "/places", branch)], y)]
            elif node.op_type == "Clip":
                low, high = self.limits(node)
                bounds = numpy.where(branch == 2, high, low).astype(numpy.float32)
                made = [("Where", [constant(name + "/inside", branch == 1), x, constant(name + "/bounds", bounds)], y)]
            else:
                slope = node.attribute[0].f if node.op_type == "LeakyRelu" else 0
                made = [("Mul", [x, constant(name + "/slope", numpy.float32(slope))], name + "/scaled"),
                        ("Where", [constant(name + "/open", branch == 1), x, name + "/scaled"], y)]
            model.graph.node.extend(helper.make_node(op, inputs, [output], name=output) for op, inputs, output in made)
        onnx.save(model, str(path))
