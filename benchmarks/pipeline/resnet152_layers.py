#!/usr/bin/env python3
"""Layer table of ResNet-152 (He et al. 2016, Table 1) for `viridian pipeline partition`: time from multiply-adds at a fixed
rate, activations and weights from shapes. A model of costs, not a measurement: prints CSV.

    benchmarks/pipeline/resnet152_layers.py [MICRO_BATCH] [TFLOPS]
"""
import sys

batch = int(sys.argv[1]) if len(sys.argv) > 1 else 8
rate = (float(sys.argv[2]) if len(sys.argv) > 2 else 7.0) * 1e12
print("layer,forward,backward,energy,activation,weights")


def row(name, macs, values, parameters):
    forward = 2 * macs * batch / rate
    print(f"{name},{forward:.9f},{2 * forward:.9f},{300 * 3 * forward:.6f},{values * batch * 4},{parameters * 16}")


row("stem", 112 * 112 * 64 * 147, 112 * 112 * 64 * 2 + 56 * 56 * 64, 64 * 147)
channels = 64
for stage, (blocks, width, size) in enumerate([(3, 64, 56), (8, 128, 28), (36, 256, 14), (3, 512, 7)]):
    for block in range(blocks):
        inside = size * 2 if block == 0 and stage > 0 else size
        weights = channels * width + 9 * width * width + width * 4 * width
        macs = inside * inside * channels * width + size * size * (9 * width * width + 4 * width * width)
        values = 2 * (inside * inside * width + size * size * width) + 3 * size * size * 4 * width
        if block == 0:
            weights += channels * 4 * width
            macs += size * size * channels * 4 * width
            values += 2 * size * size * 4 * width
        row(f"layer{stage + 1}.{block}", macs, values, weights)
        channels = 4 * width
row("fc", 2048 * 1000, 2048 + 1000, 2048 * 1000)
