"""The attention networks and a residual network give PyTorch's outputs with PyTorch's weights: multi-head attention and the
encoder layer with and without masks, for inference and in training with the same dropout masks; ResNet-18 in training, with
its new running statistics. PyTorch computes in double, the reference kernels in float.

torch_layers.py VIRIDIAN MODEL_TOOL   (Debian's python3 with python3-torch and python3-torchvision; random weights)
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
    import torchvision
except ImportError:
    print("python3-torch, python3-torchvision or numpy is not installed")
    sys.exit(77)  # CTest counts this as skipped

warnings.filterwarnings("ignore")
BATCH, TOKENS, KEYS, HIDDEN, HEADS = 2, 5, 7, 24, 3
viridian, model_tool = sys.argv[1:3]
wrong = []


def attention_weights(module, prefix):
    """Three matrices and biases where torch.nn stacks them; matrices transposed, as exports have them."""
    weights = {}
    for i, part in enumerate("qkv"):
        weights[f"{prefix}{part}_proj.weight"] = module.in_proj_weight[i * HIDDEN:(i + 1) * HIDDEN].T
        weights[f"{prefix}{part}_proj.bias"] = module.in_proj_bias[i * HIDDEN:(i + 1) * HIDDEN]
    weights[f"{prefix}out_proj.weight"] = module.out_proj.weight.T
    weights[f"{prefix}out_proj.bias"] = module.out_proj.bias
    return weights


def layer_weights(layer, prefix=""):
    weights = attention_weights(layer.self_attn, f"{prefix}self_attn.")
    for name in ("linear1", "linear2"):
        weights[f"{prefix}{name}.weight"] = getattr(layer, name).weight.T
        weights[f"{prefix}{name}.bias"] = getattr(layer, name).bias
    for name in ("norm1", "norm2"):
        weights[f"{prefix}{name}.weight"] = getattr(layer, name).weight
        weights[f"{prefix}{name}.bias"] = getattr(layer, name).bias
    return weights


def save(folder, name, tensor):
    array = tensor.detach().numpy()
    np.save(folder / f"{name}.npy", np.ascontiguousarray(array.astype(np.float32) if array.dtype == np.float64 else array))


def ours(folder, arguments, weights, inputs):
    subprocess.run([viridian, "zoo", *arguments, "-o", folder / "model.onnx"], check=True, stdout=subprocess.DEVNULL)
    for name, tensor in weights.items():
        save(folder, name, tensor)
    for i, tensor in enumerate(inputs):
        save(folder, f"input_{i}", tensor)
    subprocess.run([model_tool, "weights", folder / "model.onnx", folder], check=True)
    return np.load(folder / "output_0.npy")


def check(what, mine, theirs):
    theirs = theirs.detach().numpy()
    worst = float(np.abs(mine - theirs).max() / np.abs(theirs).max()) if mine.shape == theirs.shape else float("inf")
    print(f"{what:<44} largest difference {worst:.1e} of the largest output")
    if not worst < 1e-6:
        wrong.append(what)


class GivenMasks:
    """Stands for torch.nn.functional.dropout and takes the masks in the order of the calls."""

    def __init__(self, masks):
        self.masks = list(masks)

    def __call__(self, x, p=0.5, training=True, inplace=False):
        return x * self.masks.pop(0).reshape(x.shape).double() / (1 - float(np.float32(p)))


def in_training(folder, names, module):
    """Runs `module()` with the masks that our reference kernels drew."""
    given = GivenMasks(torch.from_numpy(np.load(folder / f"mask_{name}.npy").astype(bool)) for name in names)
    kept, torch.nn.functional.dropout = torch.nn.functional.dropout, given
    try:
        result = module()
    finally:
        torch.nn.functional.dropout = kept
    if given.masks:
        sys.exit(f"{len(given.masks)} of our dropouts have no place in torch.nn")
    return result


def rounded(module):
    """The module with weights that float holds, in double."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter).float().double() * (0.3 if parameter.dim() > 1 else 1))
    return module


def values(*dims):
    return torch.randn(*dims).double().float().double()


def causal(n):
    return torch.triu(torch.ones(n, n, dtype=torch.bool), 1)


def shape(name, *more):
    return [name, "--batch", str(BATCH), "--sequence", str(TOKENS), "--hidden", str(HIDDEN), "--heads", str(HEADS), *more]


def check_attention():
    padding = torch.zeros(BATCH, KEYS, dtype=torch.bool)
    padding[1, 5:] = True
    cases = [("self", "none"), ("self", "causal"), ("cross", "none"), ("cross", "padding"), ("general", "none")]
    for kind, mask in cases:
        query = values(BATCH, TOKENS, HIDDEN)
        key = query if kind == "self" else values(BATCH, KEYS, HIDDEN)
        value = values(BATCH, KEYS, HIDDEN) if kind == "general" else key
        inputs = {"self": [query], "cross": [query, key], "general": [query, key, value]}[kind]
        inputs += [padding] if mask == "padding" else []
        arguments = ["--attention", kind, "--mask", mask] + (["--keys", str(KEYS)] if kind != "self" else [])
        options = {"attn_mask": causal(TOKENS) if mask == "causal" else None,
                   "key_padding_mask": padding if mask == "padding" else None, "need_weights": False}
        for training in False, True:
            module = rounded(torch.nn.MultiheadAttention(HIDDEN, HEADS, dropout=0.1, batch_first=True).double())
            module.train(training)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                mine = ours(folder, shape("mha", *arguments, *["--training"] * training),
                            attention_weights(module, ""), inputs)
                forward = lambda: module(query, key, value, **options)[0]  # noqa: E731
                theirs = in_training(folder, ["dropout"], forward) if training else forward()
            check(f"mha {kind} {mask}{' training' * training}", mine, theirs)
    module = rounded(torch.nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True).double()).eval()
    with tempfile.TemporaryDirectory() as folder:
        query = values(BATCH, TOKENS, HIDDEN)
        mine = ours(pathlib.Path(folder), shape("decoder_attention"), attention_weights(module, ""), [query])
        check("decoder_attention", mine, module(query, query, query, attn_mask=causal(TOKENS), need_weights=False)[0])


def check_encoder_layer():
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[0, 3:] = True
    for mask in "none", "padding", "causal":
        for training in False, True:
            layer = torch.nn.TransformerEncoderLayer(HIDDEN, HEADS, 4 * HIDDEN, dropout=0.1, batch_first=True).double()
            layer = rounded(layer).train(training)
            x = values(BATCH, TOKENS, HIDDEN)
            inputs = [x] + ([padding] if mask == "padding" else [])
            forward = lambda: layer(x, src_mask=causal(TOKENS) if mask == "causal" else None,  # noqa: E731
                                    src_key_padding_mask=padding if mask == "padding" else None)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                mine = ours(folder, shape("encoder_layer", "--mask", mask, *["--training"] * training),
                            layer_weights(layer), inputs)
                names = ["self_attn.dropout", "dropout1", "dropout", "dropout2"]
                theirs = in_training(folder, names, forward) if training else forward()
            check(f"encoder_layer {mask}{' training' * training}", mine, theirs)


def check_encoder_of_layers():
    layer = torch.nn.TransformerEncoderLayer(HIDDEN, HEADS, 4 * HIDDEN, batch_first=True)
    encoder = rounded(torch.nn.TransformerEncoder(layer, 3).double()).eval()
    x = values(BATCH, TOKENS, HIDDEN)
    weights = {}
    for i, part in enumerate(encoder.layers):
        weights.update(layer_weights(part, f"layers.{i}."))
    with tempfile.TemporaryDirectory() as folder:
        mine = ours(pathlib.Path(folder), shape("encoder_layer", "--layers", "3"), weights, [x])
    check("encoder_layer, three of them", mine, encoder(x))


def check_resnet():
    torch.manual_seed(4)
    network = torchvision.models.resnet18(weights=None).double().train()
    weights = {name: tensor.float().double() for name, tensor in network.state_dict().items() if tensor.dim() > 0}
    network.load_state_dict(weights, strict=False)
    x = values(2, 3, 224, 224)
    theirs = network(x)
    statistics = network.state_dict()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mine = ours(folder, ["resnet18", "--batch", "2", "--training"], weights, [x])
        check("resnet18 training", mine, theirs)
        for name in "bn1", "layer4.1.bn2":
            check(f"{name}.running_mean", np.load(folder / f"{name}.new_running_mean.npy"),
                  statistics[f"{name}.running_mean"])
        # PyTorch divides by n - 1 in the running variance, ONNX by n.
        n = 2 * 112 * 112
        old, new = 0.9 * weights["bn1.running_var"], statistics["bn1.running_var"]
        check("bn1.running_var", np.load(folder / "bn1.new_running_var.npy"), old + (new - old) * (n - 1) / n)


torch.manual_seed(1)
check_attention()
check_encoder_layer()
check_encoder_of_layers()
check_resnet()
if wrong:
    sys.exit(f"differ: {', '.join(wrong)}")
