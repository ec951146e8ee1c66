"""Records what PyTorch does, with the calls of modules by their qualified names, into a trace on the clock of the power
log: from `start()` to `stop()`. `viridian record --torch` records whole programs so, and `viridian.account` of the Python
package the steps of a training."""
import gzip
import json
import os
import sys
import time


def unless_it_fails(step):
    """The program goes on whatever happens to the names of its modules."""
    try:
        return step()
    except Exception as error:
        print(f"viridian: the program's modules are not named: {type(error).__name__}: {error}", file=sys.stderr)
        return None


class TorchRecording:
    """`kineto` and `module_scopes` are the modules beside this one. `timer`, if given, times operators on a GPU by events
    (event_timer.py)."""

    def __init__(self, torch, kineto, module_scopes, target, timer=None):
        self.torch, self.kineto, self.target, self.timer = torch, kineto, target, timer
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available() and timer is None:
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        self.profile = torch.profiler.profile(activities=kinds)
        self.scopes = module_scopes.ModuleScopes(torch)
        self.anchors = []
        self.began = None
        self.is_empty = True  # until `stop()` has found an operator of the program

    def start(self):
        self.profile.start()
        self._anchor()
        unless_it_fails(self.scopes.start)
        self.began = time.time_ns()

    def _anchor(self):
        name, before = f"{self.kineto.ANCHOR}.{len(self.anchors)}", time.time_ns()
        with self.torch.profiler.record_function(name):
            pass
        self.anchors.append((name, before, time.time_ns()))

    def stop(self):
        """Writes the trace. Returns what there is to say about modules (module_scopes.py), or None."""
        began, ended = self.began, time.time_ns()  # the scopes of recording itself lie outside
        if self.torch.cuda.is_available() and self.torch.cuda.is_initialized():
            self.torch.cuda.synchronize()
        unless_it_fails(self.scopes.stop)
        self._anchor()
        self.profile.stop()
        whole_us = not self.torch.profiler.kineto_available()
        data = self._chunk(whole_us)
        about_modules = unless_it_fails(lambda: self.scopes.add_to(data, whole_us))
        low, high = self.kineto.clock_offset(data, self.anchors)
        if low is not None and (low > 0 or high < 0):
            self.kineto.shift(data, -(low + high) // 2)
        self.is_empty = not any(began < self.kineto.times(data, row)[0] < ended for row in data["traceEvents"]
                                if row.get("cat") in self.kineto.OPERATORS)
        if self.timer is not None:
            self.kineto.add_kernels(data, self.timer.take())
        used = self.torch.cuda.is_available() and self.torch.cuda.is_initialized()
        if used and self.timer is None and not self.kineto.kernels(data):
            print("viridian: PyTorch's profiler saw no kernels: `viridian doctor` says why; `viridian record --torch "
                  "--events` times operators without CUPTI", file=sys.stderr)
        data["viridianClock"] = {"trace_ahead_ns": [low, high]}
        with gzip.GzipFile(self.target, "wb", 6, mtime=0) as file:
            file.write(json.dumps(data, separators=(",", ":")).encode())
        return about_modules

    def abandon(self):
        """Ends without a trace."""
        unless_it_fails(self.scopes.stop)
        self.profile.stop()

    def _chunk(self, whole_us):
        if whole_us:
            return self.kineto.of_events(self.profile.profiler.kineto_results.events())
        raw = self.target + ".raw.json"
        self.profile.export_chrome_trace(raw)
        try:
            return self.kineto.load(raw, self.anchors)
        finally:
            os.remove(raw)
