"""Times every call of a torch.nn.Module under its qualified name, for the trace that `viridian record --torch` writes.

`torch.nn.Module.__call__` is replaced by a function that reads the clock before and after the call. That costs about half
of what PyTorch's global hooks cost, sees calls that raise, changes no graph and adds no record to the profiler. Backward
work needs no hook: the trace joins it to its forward operator by the sequence number, and the operator lies in a module.

Names come from the tree of modules, as `named_modules()` gives them, behind the class of the outermost module:
`ResNet/layer4/1/conv2`. The parts that wrappers add (data parallel, checkpoint, compile) are left out."""
import gc
import itertools
import os
import sys
import threading
import time
import weakref

CATEGORY, THREAD = "viridian_module", "viridian.thread"
WRAPPED = {"_fsdp_wrapped_module": "", "_checkpoint_wrapped_module": "", "_orig_mod": "", "module": "Parallel"}
SCRIPTED = {"RecursiveScriptModule", "TopLevelTracedModule", "TracedModule"}
SCANS = 8  # searches of all live objects for the parents of a module, at most; each takes some 10 ms


def now(clock=getattr(time, "CLOCK_MONOTONIC_RAW", None)):
    """The clock that runs as the processor's counter does, by which the profiler stamps: no adjustment of the time of
    day comes between the two."""
    return time.clock_gettime_ns(clock)


def clock_pair():
    """(monotonic, Unix time) of one moment: the closest of some readings."""
    best = None
    for _ in range(200):
        before, unix, after = now(), time.time_ns(), now()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, unix)
    return best[1:]


def wrapped_name(module):
    """The name under which `module`, a wrapper, holds the module that it wraps; None if it is no wrapper."""
    for name, kind in WRAPPED.items():
        if name in module._modules and module._modules[name] is not None and kind in type(module).__name__:
            return name
    return None


def class_of(module):
    """The class as the user knows it: of what a wrapper wraps."""
    while wrapped_name(module) is not None:
        module = module._modules[wrapped_name(module)]
    name = type(module).__name__
    if name in SCRIPTED:
        name = getattr(module, "original_name", name)
    if name.startswith("FSDP") and any(base.__name__ == "FSDPModule" for base in type(module).__mro__):
        name = name[len("FSDP"):]
    return name


def is_compiled(module):
    return wrapped_name(module) == "_orig_mod" or getattr(module, "_compiled_call_impl", None) is not None


class Tree:
    """The names of modules, each found when the module is called for the first time."""

    def __init__(self, torch):
        self.module_class = torch.nn.Module
        self.names = [("", "", False)]  # (path, class, whether it is a wrapper), by number
        self.number = {}   # id(module) -> number; 0: a module that gets no scope
        self.roots = {}    # class -> weak references of outermost modules, in the order of their names
        self.alive = {}    # id(module) -> weak reference, which removes the entries at the module's end
        self.scans = 0
        self.lock = threading.RLock()

    def learn(self, module, caller):
        """The number of `module`, which is called inside `caller`, the innermost module being called, or None."""
        with self.lock:
            if id(module) not in self.number:
                self._name(module, caller)
            return self.number[id(module)]

    def _keep(self, module, path):
        key = id(module)

        def forget(_reference):
            self.number.pop(key, None)
            self.alive.pop(key, None)

        self.alive[key] = weakref.ref(module, forget)
        self.number[key] = len(self.names)
        compiled = is_compiled(module)
        self.names.append((path, class_of(module) + (" (compiled)" if compiled else ""),
                           wrapped_name(module) is not None and not compiled))

    def _name(self, module, caller):
        if type(module).__name__.startswith("GraphModule"):  # what a compiler made: its caller has the name
            self.alive[id(module)] = weakref.ref(module, lambda _, key=id(module): self.number.pop(key, None))
            self.number[id(module)] = 0
            return
        if caller is not None and id(caller) in self.number:
            above = self.names[self.number[id(caller)]][0]
            self._descend(caller, above)  # where a part was added since
            if id(module) in self.number:
                return
        root = self._outermost(module)
        if root is module and caller is not None and id(caller) in self.number:  # made in a forward, part of nothing
            self._descend(module, above + "/" + class_of(module))
            return
        inner = root
        while wrapped_name(inner) is not None and id(inner) not in self.number:
            inner = inner._modules[wrapped_name(inner)]
        known = self.number.get(id(inner), 0)
        self._descend(root, self.names[known][0] if known else self._root_name(root))

    def _descend(self, root, path):
        stack, seen = [(root, path)], set()
        while stack:
            module, path = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            if id(module) not in self.number:
                self._keep(module, path)
            inner = wrapped_name(module)
            for name, child in module._modules.items():
                if child is not None:
                    stack.append((child, path if name == inner else path + "/" + name))

    def _root_name(self, root):
        """The class; with a number behind it if several such models live."""
        name = class_of(root)
        if not root._modules:
            return name
        known = self.roots.setdefault(name, [])
        for place, reference in enumerate(known):
            if reference() is None:
                known[place] = weakref.ref(root)
                break
        else:
            place = len(known)
            known.append(weakref.ref(root))
        return name if place == 0 else f"{name}_{place + 1}"

    def _outermost(self, module):
        if self.scans == SCANS:
            return module
        self.scans += 1
        parent = {}
        for one in gc.get_objects():
            if issubclass(type(one), self.module_class):  # of the type: `isinstance` may run an object's own code
                for child in one.__dict__.get("_modules", {}).values():
                    if child is not None:
                        parent.setdefault(id(child), one)
        seen = set()
        while id(module) in parent and id(module) not in seen:
            seen.add(id(module))
            module = parent[id(module)]
        return module


class _Lane(threading.local):
    """The calls of one thread."""
    numbers = itertools.count()
    all = []

    def __init__(self):
        self.rows = []
        self.number = next(_Lane.numbers)
        _Lane.all.append((self.number, self.rows))
        self.mark(f"{THREAD}.{self.number}")

    @staticmethod
    def mark(name):
        pass


class ModuleScopes:
    """Between `start()` and `stop()` the calls of modules are recorded; `rows()` are those calls in a chunk of
    PyTorch's profiler."""

    def __init__(self, torch):
        self.torch = torch
        self.tree = Tree(torch)
        self.original = torch.nn.Module.__call__
        self.begin = self.end = None
        self.lane = None

    def start(self):
        record_function = self.torch.profiler.record_function

        def mark(name):
            with record_function(name):
                pass

        _Lane.mark, _Lane.all = staticmethod(mark), []
        self.lane = _Lane()
        self.wrapper = self._wrapper()
        self.torch.nn.Module.__call__ = self.wrapper
        self.begin = clock_pair()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._off)

    def stop(self):
        self._off()
        self.end = clock_pair()

    def _off(self):
        if self.torch.nn.Module.__call__ is self.wrapper:
            self.torch.nn.Module.__call__ = self.original

    def _wrapper(self):
        original, number, learn, lane = self.original, self.tree.number.get, self.tree.learn, self.lane
        clock, raw = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        compiling = getattr(getattr(self.torch, "compiler", None), "is_dynamo_compiling", None)

        def timed(self, *args, **kwargs):
            key = number(id(self))
            if key is None:
                key = learn(self, _caller(timed.__code__))
            begin = clock(raw)
            try:
                return original(self, *args, **kwargs)
            finally:
                lane.rows.append((key, begin, clock(raw)))

        def compilable(self, *args, **kwargs):
            if compiling():  # becomes true in code that is being compiled, which then has no scopes
                return original(self, *args, **kwargs)
            key = number(id(self))
            if key is None:
                key = learn(self, _caller(compilable.__code__))
            begin = clock(raw)
            try:
                return original(self, *args, **kwargs)
            finally:
                lane.rows.append((key, begin, clock(raw)))

        return timed if compiling is None else compilable

    def add_to(self, chunk, whole_us):
        """Puts the calls in front of the operators of `chunk`. `whole_us`: the profiler's times are whole microseconds.
        Returns what there is to say: calls, names, nanoseconds that each call cost, calls of threads that the profiler
        did not see."""
        (raw0, unix0), (raw1, unix1) = self.begin, self.end
        rate, base = (unix1 - unix0) / max(raw1 - raw0, 1), int(chunk["baseTimeNanoseconds"])

        def unix(stamp):
            return unix0 + round((stamp - raw0) * rate)

        place = {row["name"]: (row["pid"], row["tid"]) for row in chunk["traceEvents"]
                 if str(row.get("name", "")).startswith(THREAD) and row.get("ph") == "X"
                 and not str(row.get("cat", "")).startswith("gpu")}
        found, unseen = [], 0
        for number, calls in _Lane.all:
            if f"{THREAD}.{number}" not in place:
                unseen += len(calls)
                continue
            pid, tid = place[f"{THREAD}.{number}"]
            # Outer calls end after inner ones, so from the back each stands before what it encloses.
            for key, begin, end in sorted(reversed(calls), key=lambda one: (one[1], -one[2])):
                path, kind, wrapper = self.tree.names[key]
                if key == 0:
                    continue
                begin, end = unix(begin) - base, unix(end) - base
                if whole_us:
                    begin, end = begin // 1000 * 1000, -(-end // 1000) * 1000
                row = {"ph": "X", "cat": CATEGORY, "name": path.replace("/", "."), "pid": pid, "tid": tid,
                       "ts": begin / 1000, "dur": (end - begin) / 1000, "args": {"path": path}}
                if not wrapper:
                    row["args"]["type"] = kind
                found.append(row)
        others = [row for row in chunk["traceEvents"] if not str(row.get("name", "")).startswith(THREAD)]
        chunk["traceEvents"] = found + others
        return {"calls": len(found), "names": len({row["args"]["path"] for row in found}),
                "nanoseconds_each": self.cost_ns(), "unseen": unseen}

    def cost_ns(self):
        """Nanoseconds that timing adds to one call of a module, measured here and now: the least of several turns."""
        class Nothing(self.torch.nn.Module):
            def forward(self):
                return None

        nothing, kept = Nothing(), list(self.lane.rows)
        turns = {self.original: [], self._wrapper(): []}
        for _ in range(15):
            for call, took in turns.items():
                begin = now()
                for _ in range(200):
                    call(nothing)
                took.append((now() - begin) / 200)
        self.lane.rows[:] = kept
        plain, timed = (min(took) for took in turns.values())
        return max(timed - plain, 0.0)


def _caller(code):
    """The module whose call by `code` encloses the present one, or None."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code is code:
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None
