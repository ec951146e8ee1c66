"""traces_written_now.py VIRIDIAN torch|onnxruntime: a framework's own profiler writes traces of a network now; the whole
ones, a compressed and damaged ones go through tools/foreign_traces, which holds the account to the books. 77: not here."""
import gzip
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]


def by_torch(folder):
    try:
        import torch
    except ImportError:
        sys.exit(77)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 10))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)

    def steps(count):
        for step in range(count):
            with torch.autograd.profiler.record_function(f"step_{step}"):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(network(torch.randn(4, 3, 16, 16)), torch.tensor([0, 1, 2, 3])).backward()
                optimizer.step()

    steps(1)
    with torch.autograd.profiler.profile(record_shapes=True) as training:
        steps(5)
    training.export_chrome_trace(str(folder / "training.json"))

    def infer():  # a profiler of its own: another thread, no gradients
        with torch.no_grad(), torch.autograd.profiler.profile() as inference:
            for _ in range(5):
                network(torch.randn(1, 3, 16, 16))
        inference.export_chrome_trace(str(folder / "inference.json"))

    thread = threading.Thread(target=infer)
    thread.start()
    thread.join()


def by_onnxruntime(folder, viridian):
    import numpy
    import onnxruntime
    model = folder / "network.onnx"
    subprocess.run([viridian, "zoo", "squeezenet1_1", "-o", str(model)], check=True, stdout=subprocess.DEVNULL)
    for mode in ("sequential", "parallel"):
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = str(folder / mode)
        options.execution_mode = getattr(onnxruntime.ExecutionMode, f"ORT_{mode.upper()}")
        options.intra_op_num_threads = options.inter_op_num_threads = 2
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        given = {i.name: numpy.zeros([d if isinstance(d, int) else 1 for d in i.shape], numpy.float32) for i in session.get_inputs()}
        for _ in range(3):
            session.run(None, given)
        session.end_profiling()
    model.unlink()


def main():
    viridian, writer = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if writer == "torch":
            by_torch(folder)
        else:
            by_onnxruntime(folder, viridian)
        whole = sorted(folder.glob("*.json"))
        assert len(whole) == 2, whole
        for file in whole:
            data = file.read_bytes()
            (folder / f"packed_{file.name}.gz").write_bytes(gzip.compress(data))
            inside = data.index(b'"name"', len(data) * 2 // 3) + 4  # between two events a bare list may end
            (folder / f"cut_{file.name}").write_bytes(data[:inside])
            (folder / f"holed_{file.name}").write_bytes(data[:len(data) // 3] + b"\0" * 100 + data[len(data) // 2:])
        run = subprocess.run([sys.executable, str(ROOT / "tools/foreign_traces"), name, "--viridian", viridian], capture_output=True, text=True)
        print(run.stdout, run.stderr)
        assert run.returncode == 0, "an account breaks a rule"
        rows = {cells[1]: cells for line in run.stdout.splitlines() if (cells := [c.strip() for c in line.split("|")]) and len(cells) > 9}
        for file in whole:
            events, operations = (int(rows[file.name][column]) for column in (2, 3))
            assert operations > 5 and events > operations, (file.name, events, operations)
            assert rows[file.name][9] == "0", f"{file.name} warns"
            assert rows[f"packed_{file.name}.gz"][2:9] == rows[file.name][2:9], "packed, it says something else"
            for damage in ("cut", "holed"):
                assert 0 < int(rows[f"{damage}_{file.name}"][2]) < events, damage
                assert int(rows[f"{damage}_{file.name}"][9]) > 0, f"{damage}: nothing is said of it"


main()
