#!/usr/bin/env python3
"""torch.distributed.pipelining reads what viridian writes (loads, validates, inserts communication), and viridian reads
and verifies what torch writes. Needs a current torch from PyPI; no GPU, one process (fake process group).

    venv/bin/python benchmarks/pipeline/torch_schedules.py build/release/bin/viridian
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining import schedules as S
from torch.testing._internal.distributed.fake_pg import FakeStore


def stages_of(rank, ranks, count, style):
    ids = [rank + c * ranks for c in range(count // ranks)] if style == "loop" else [rank, count - 1 - rank][:count // ranks]
    return [PipelineStage(torch.nn.Linear(4, 4), i, count, torch.device("cpu")) for i in ids]


def main():
    viridian, folder = sys.argv[1], pathlib.Path(tempfile.mkdtemp())

    def run(*words):
        done = subprocess.run([viridian, "pipeline", *map(str, words), "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"viridian {words}: {done.stderr}")
        return json.loads(done.stdout)

    ranks, micro_batches = 4, 8
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    for name, count, style in [("gpipe", 4, "loop"), ("1f1b", 4, "loop"), ("envpipe", 4, "loop"), ("interleaved", 8, "loop"),
                               ("zb-h1", 4, "loop"), ("zb-h2", 4, "loop"), ("zb-v", 8, "v")]:
        plan, table = folder / f"{name}.json", folder / f"{name}.csv"
        split = ["--weight-share", "0.5"] if name.startswith("zb") else []
        run("plan", "--device", "v100", "--stages", count, "--schedule", name, "-m", micro_batches, *split, "-o", plan)
        run("convert", plan, "--from", "json", "--to", "pytorch", "-o", table)
        runtime = S._PipelineScheduleRuntime(stages_of(0, ranks, count, style), micro_batches)
        runtime._load_csv(str(table), "compute_only")
        sends = sum("SEND_" in repr(a) or "RECV_" in repr(a) for r in runtime.pipeline_order_with_comms.values() for a in r)
        print(f"torch {torch.__version__} loads {name}: {len(runtime.pipeline_order)} ranks, {sends} sends and receives inserted")
    for kind, count, style in [(S.ScheduleInterleaved1F1B, 8, "loop"), (S.ScheduleInterleavedZeroBubble, 8, "loop"),
                               (S.ScheduleLoopedBFS, 8, "loop"), (S.ScheduleZBVZeroBubble, 8, "v"), (S.ScheduleDualPipeV, 8, "v")]:
        schedule = kind(stages_of(0, ranks, count, style), micro_batches, loss_fn=lambda a, b: None)
        rows = getattr(schedule, "pipeline_order")
        path = folder / f"{kind.__name__}.csv"
        path.write_text("\n".join(",".join("" if a is None else str(a) for a in rows[r]) for r in range(ranks)) + "\n")
        found = run("check", path, "--from", "pytorch")
        print(f"viridian verifies {kind.__name__}: in flight {found['micro_batches_in_flight']}")


main()
