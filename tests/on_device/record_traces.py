#!/usr/bin/env python3
"""record_traces.py VIRIDIAN BIN_FOLDER: `viridian record --torch -- python3 train.py` gives a PyTorch trace and a power log
on one clock; `viridian record --cupti` packs what the injected library wrote (scripted CUPTI)."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

viridian, binaries = (os.path.abspath(path) for path in sys.argv[1:3])
TRAIN = """
import sys, time
import torch
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4))
begin = time.time_ns()
for _ in range(30):
    model(torch.randn(64, 256)).sum().backward()
with open(sys.argv[1], "w") as file:
    file.write(f"{begin} {time.time_ns()}")
while "forever" in sys.argv:
    model(torch.randn(64, 256))
sys.exit(5)
"""


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def said(*arguments, code=0, **environment):
    done = subprocess.run([viridian, *arguments, "--json"] if "--" not in arguments else [viridian, *arguments],
                          stdout=subprocess.PIPE, env=dict(os.environ, **environment), check=False)
    check(done.returncode == code, f"{arguments[:2]} returned {done.returncode}, not {code}")
    return done.stdout.decode()


with tempfile.TemporaryDirectory() as work:
    fake = os.path.join(binaries, "libviridian_fake_cupti.so")
    folder = os.path.join(work, "cupti")
    out = said("record", "--cupti", "-o", folder, "--", os.path.join(binaries, "fake_cuda_program"), fake, "200",
               VIRIDIAN_CUPTI=fake)
    check("kernels.vtrace" in out, "no kernels")
    shown = json.loads(said("trace", "show", os.path.join(folder, "kernels.vtrace")))
    found = {kind: (one["count"], round(one["seconds"], 9)) for kind, one in shown["kinds"].items()}
    check(found == {"kernel": (180, 0.18), "copy": (20, 0.02)}, f"not the scripted work: {found}")
    with open(os.path.join(folder, "record.json"), encoding="utf-8") as file:
        record = json.load(file)
    check(abs(shown["begin_ns"] - record["begin_ns"]) < 5e9 and shown["clock"] == "unix", "not on one clock")
    check(sorted(os.listdir(folder)) == ["kernels.vtrace", "power.csv", "record.json"], "something was left behind")
    said("record", "--cupti", "-o", os.path.join(work, "none"), "--", "true")
    refused = os.path.join(work, "refused")
    out = said("record", "--cupti", "-o", refused, "--", os.path.join(binaries, "fake_cuda_program"), fake, "3",
               VIRIDIAN_CUPTI=fake, VIRIDIAN_FAKE_CUPTI="refuse")
    check("CUPTI reported nothing: CUPTI_ERROR_NOT_INITIALIZED" in out, "a CUPTI that refuses is not mentioned")
    out = said("record", "--cupti", "-o", os.path.join(work, "dropped"), "--",
               os.path.join(binaries, "fake_cuda_program"), fake, "20", VIRIDIAN_CUPTI=fake, VIRIDIAN_FAKE_CUPTI="drop=3")
    check("CUPTI dropped 3 records" in out, "dropped records are not mentioned")

    # Far more than it may: what ran until then is kept, though a signal ended the program.
    folder = os.path.join(work, "stopped")
    out = said("record", "--cupti", "--seconds", "1", "-o", folder, "--",
               os.path.join(binaries, "fake_cuda_program"), fake, "1000000", VIRIDIAN_CUPTI=fake)
    check("then stopped" in out and "warning" not in out, f"it was not stopped: {out}")
    shown = json.loads(said("trace", "show", os.path.join(folder, "kernels.vtrace")))
    check(shown["kinds"]["kernel"]["count"] > 50, "too few kernels were kept")
    check(sorted(os.listdir(folder)) == ["kernels.vtrace", "power.csv", "record.json"], "something was left behind")

    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit(77)  # CTest counts this as skipped: Debian's python3-torch is not installed
    script, times = os.path.join(work, "train.py"), os.path.join(work, "times")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TRAIN)
    folder = os.path.join(work, "torch")
    said("record", "--torch", "-o", folder, "--", python, script, times, code=5)
    with open(times, encoding="utf-8") as file:
        begin, end = map(int, file.read().split())
    trace = os.path.join(folder, "torch.json.gz")
    with gzip.open(trace, "rb") as file:
        clock = json.load(file)["viridianClock"]
    low, high = clock["trace_ahead_ns"]
    check(high - low < 50_000_000, "the clocks were not compared")
    shown = json.loads(said("trace", "show", trace))
    check(shown["clock"] == "unix" and shown["kinds"]["operation"]["count"] > 100, "no operators on Unix time")
    first, last = shown["begin_ns"], shown["begin_ns"] + 1e9 * shown["seconds"]
    check(first - 50e6 < begin < last and begin < last and end < last + 50e6, "the trace is not at the program's time")
    result = json.loads(said("account", "--trace", trace, "--power", os.path.join(folder, "power.csv")))
    charged = sum(operation["joules"]["value"] for operation in result["operations"])
    check(charged > 0, "no joules")

    folder = os.path.join(work, "torch_stopped")
    for seconds in ("2", "8", "32"):  # until there was time to import torch
        out = said("record", "--torch", "--seconds", seconds, "--force", "-o", folder, "--", python, script, times, "forever")
        check("then stopped" in out, f"it was not stopped: {out}")
        if "warning" not in out:
            break
        check("the time ended before it had imported torch and run an operator" in out, f"it does not say why there is no trace: {out}")
    shown = json.loads(said("trace", "show", os.path.join(folder, "torch.json.gz")))
    check(shown["kinds"]["operation"]["count"] > 100 and shown["clock"] == "unix", "too few operators were kept")

    # Operators between events, on the simulated GPU: as many as it ran, owned by what launched them.
    load, folder = os.path.join(work, "load"), os.path.join(work, "events")
    os.mkdir(folder)
    done = subprocess.run([python, script, times], check=False, env=dict(
        os.environ, PYTHONPATH=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/on_device/torch_site"),
        VIRIDIAN_TORCH_FOLDER=folder, VIRIDIAN_TORCH_EVENTS=load))
    check(done.returncode == 5, "events change the program's end")
    trace, = [name for name in os.listdir(folder) if name.endswith(".json.gz")]
    shown = json.loads(said("trace", "show", os.path.join(folder, trace)))
    ran, kernels = os.path.getsize(load) // 32, shown["kinds"]["kernel"]["count"]
    check(kernels == ran > 300, f"{kernels} operators were timed of {ran} that ran")
    check(shown["unowned"] < 0.1 * kernels, f"{shown['unowned']} have no owner")
print("traced by PyTorch and by CUPTI, on the clock of the power log")
