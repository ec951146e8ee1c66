"""export_model.py MODEL FILE [--exporter torchscript|dynamo] [--opset N] [--seed N]: writes one network with seeded weights
as PyTorch exports it. Without MODEL it lists the names. Runs with any PyTorch (1.13 and 2.x were tried)."""
import argparse
import inspect
import sys
import warnings

import torch
import torchvision

import torch_attention
import torch_blocks
import torch_tasks

warnings.filterwarnings("ignore")

VISION = """alexnet vgg11_bn squeezenet1_0 resnet18 resnet50 resnext50_32x4d wide_resnet50_2 densenet121 googlenet inception_v3
mobilenet_v2 mobilenet_v3_small mobilenet_v3_large mnasnet1_0 shufflenet_v2_x1_0 efficientnet_b0 efficientnet_v2_s regnet_x_400mf
regnet_y_400mf regnet_y_1_6gf convnext_tiny convnext_small vit_b_16 vit_b_32 swin_t swin_v2_t maxvit_t""".split()
SEGMENTATION = ["lraspp_mobilenet_v3_large", "deeplabv3_resnet50", "fcn_resnet50"]
DETECTION = ["retinanet_resnet50_fpn", "ssdlite320_mobilenet_v3_large"]
VIDEO = ["r3d_18", "mc3_18", "r2plus1d_18", "s3d", "swin3d_t"]  # clips of 16 frames, of 64 x 64 pixels where the network can
BLOCKS = torch_blocks.BLOCKS | torch_tasks.TASKS | torch_attention.NETWORKS


def randomise(model):
    """Trained networks do not normalise by 0 and 1, and use all their weights."""
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.normal_(module.running_mean, 0, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.7, 1.4)
            torch.nn.init.uniform_(module.weight, 0.8, 1.2)
            torch.nn.init.normal_(module.bias, 0, 0.1)
    for parameter in model.parameters():  # heads of zeros and layer scales of 1e-6 would hide what is wrong before them
        if parameter.dim() > 1 and parameter.abs().max() < 1e-4:
            torch.nn.init.normal_(parameter, 0, 0.1)


class OnlyOut(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model(image)["out"]


class Detector(torch.nn.Module):
    """Backbone and heads: what comes before the boxes are chosen."""

    def __init__(self, model):
        super().__init__()
        self.backbone, self.head = model.backbone, model.head

    def forward(self, image):
        answers = self.head(list(self.backbone(image).values()))
        return answers["cls_logits"], answers["bbox_regression"]


def build(name):
    """The network and example inputs."""
    if name in BLOCKS:
        return BLOCKS[name]()
    size = 299 if name == "inception_v3" else 224
    image = torch.randn(1, 3, size, size)
    if name in SEGMENTATION:
        make = getattr(torchvision.models.segmentation, name)
        return OnlyOut(make(weights=None, weights_backbone=None)), (image,)
    if name in DETECTION:
        make = getattr(torchvision.models.detection, name)
        return Detector(make(weights=None, weights_backbone=None)), (torch.randn(1, 3, 320, 320),)
    if name in VIDEO:
        size = 224 if name == "s3d" else 64
        return getattr(torchvision.models.video, name)(weights=None), (torch.randn(1, 3, 16, size, size),)
    make = getattr(torchvision.models, name)
    extra = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    return make(weights=None, **extra), (image,)


def export(options):
    torch.manual_seed(options.seed)
    model, inputs = build(options.model)
    randomise(model)
    model.eval()
    more = {}
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        more["dynamo"] = options.exporter == "dynamo"
    elif options.exporter == "dynamo":
        sys.exit("this PyTorch has no such exporter")
    if options.exporter == "dynamo":
        more["external_data"] = False
        more["verbose"] = False
    if options.opset:
        more["opset_version"] = options.opset
    # Gradients stay on: with them off the encoder layers of 1.x take a fused path that has no export.
    torch.onnx.export(model, inputs, options.file, **more)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--exporter", choices=["torchscript", "dynamo"], default="torchscript")
    parser.add_argument("--opset", type=int, default=0, help="0: the exporter's own default")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.model is None:
        known = [name for name in VISION if hasattr(torchvision.models, name)] + SEGMENTATION + DETECTION
        known += [name for name in VIDEO if hasattr(torchvision.models.video, name)]
        print("\n".join(known + list(BLOCKS)))
    else:
        export(options)


if __name__ == "__main__":
    main()
