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
SEARCHING = 0.01  # searches that may not be needed take at most this part of the time
SCRIPTED = {"RecursiveScriptModule", "TopLevelTracedModule", "TracedModule"}


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
    if not module._modules:
        return None
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
    return wrapped_name(module) == "_orig_mod" or module.__dict__.get("_compiled_call_impl") is not None


def holds(caller, module):
    if caller is not None:
        for child in caller._modules.values():
            if child is module:
                return True
    return False


class Tree:
    """The names of modules, each found when the module is called for the first time.

    Whoever holds a module is found by a search of all live objects, which takes 10 to 100 ms. One search serves all modules
    that live then. One that was made later needs another search, unless modules of its class that were part of nothing
    have been called from the same place: `CrossEntropyLoss()(x, y)` in a loop makes one at every step. Those are taken for
    part of nothing, but whenever their number has doubled they are searched for again, if searches have then taken less
    than SEARCHING of the time."""

    def __init__(self, torch):
        self.module_class = torch.nn.Module
        self.names = [("", "", False)]  # (path, class, whether it is a wrapper), by number; 0: a module that gets no scope
        self.numbers = {}  # the same, the other way round
        self.number = {}   # id(module) -> number
        self.roots = {}    # class -> weak references of outermost modules, in the order of their names
        self.alive = {}    # id(module) -> weak reference, which removes the entries at the module's end
        self.holders = {}  # id(module) -> weak references to it and to a module that held it, or None, at the last search
        self.loose = {}    # (class, code, place in the code) -> _Loose, if modules were called there that are part of nothing
        self.begin, self.searches, self.search_ns = now(), 0, 0
        self.lock = threading.RLock()

    def learn(self, module, caller, site=None):
        """The number of `module`, which is called by the frame `site` inside `caller`, the innermost module being called,
        or None."""
        place = site and (type(module), id(site.f_code), site.f_lasti)
        loose = self.loose.get(place)
        if loose is not None and not loose.search_is_due() and not module._modules:  # made anew at every step
            number = loose.numbers.get(0 if caller is None else self.number.get(id(caller)))
            if number is not None and not holds(caller, module):
                loose.times += 1
                return number
        with self.lock:
            if id(module) not in self.number:
                self._name(module, caller, place)
            return self.number[id(module)]

    def _keep(self, module, name):
        self.alive[id(module)] = _Forgetting(module, self)
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.names)
            self.names.append(name)
        self.number[id(module)] = number

    def _named(self, module, path):
        compiled = is_compiled(module)
        return (path, class_of(module) + (" (compiled)" if compiled else ""), wrapped_name(module) is not None and not compiled)

    def _name(self, module, caller, place):
        if type(module).__name__.startswith("GraphModule"):  # what a compiler made: its caller has the name
            self.alive[id(module)] = _Forgetting(module, self)
            self.number[id(module)] = 0
            return
        above = 0 if caller is None else self.number.get(id(caller), 0)
        loose = self.loose.get(place)
        due = loose is None or loose.search_is_due()
        if above and (due or holds(caller, module)):
            self._descend(caller, self.names[above][0])  # where a part was added since
            if id(module) in self.number:
                return
        if due and self._holder(module) is None and (self._searching_is_cheap() or loose is None and not self._lived(module)):
            self._search()
        root = self._outermost(module)
        if root is module and above:  # made in a forward, part of nothing
            self._descend(module, self.names[above][0] + "/" + class_of(module))
        else:
            self._descend_outermost(root)
        if root is not module:
            self.loose.pop(place, None)
        elif place is not None:
            loose = self.loose.setdefault(place, _Loose())
            loose.times += 1
            if not is_compiled(module):
                loose.numbers[above] = self.number[id(module)]

    def _descend_outermost(self, root):
        if not root._modules:
            self._descend(root, class_of(root))
            return
        inner = root
        while wrapped_name(inner) is not None and id(inner) not in self.number:
            inner = inner._modules[wrapped_name(inner)]
        known = self.number.get(id(inner), 0)
        self._descend(root, self.names[known][0] if known else self._root_name(root))

    def _descend(self, root, path):
        if not root._modules:
            if id(root) not in self.number:
                self._keep(root, self._named(root, path))
            return
        stack, seen = [(root, path)], set()
        while stack:
            module, path = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            if id(module) not in self.number:
                self._keep(module, self._named(module, path))
            inner = wrapped_name(module)
            for name, child in module._modules.items():
                if child is not None:
                    stack.append((child, path if name == inner else path + "/" + name))

    def _root_name(self, root):
        """The class; with a number behind it if several such models live."""
        name = class_of(root)
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
        """The outermost module of those that hold `module`, as far as the last search knows; itself if it is part of
        nothing."""
        seen = set()
        while id(module) not in seen and self._holder(module) is not None:
            seen.add(id(module))
            module = self._holder(module)
        return module

    def _lived(self, module):
        """Whether `module` was there at the last search."""
        return id(module) in self.holders and self.holders[id(module)][0]() is module

    def _holder(self, module):
        """A module that held `module` at the last search and still does, or None."""
        reference = self.holders[id(module)][1] if self._lived(module) else None
        holder = reference and reference()
        return holder if holds(holder, module) else None

    def _searching_is_cheap(self):
        return self.search_ns < SEARCHING * (now() - self.begin)

    def _search(self):
        began, kinds, classes = now(), set(), [self.module_class]
        while classes:
            kinds.add(kind := classes.pop())
            classes += [one for one in type.__subclasses__(kind) if one not in kinds]
        # Of the type, because `isinstance` may run an object's own code.
        modules = [one for one in gc.get_objects() if type(one) in kinds and "_modules" in one.__dict__]
        self.holders = {id(one): (weakref.ref(one), None) for one in modules}
        for one in modules:
            for child in one._modules.values():
                if child is not None and self.holders.get(id(child), (None, None))[1] is None:
                    self.holders[id(child)] = (weakref.ref(child), weakref.ref(one))
        self.searches += 1
        self.search_ns += now() - began


class _Loose:
    """Modules of one class, called from one place, that are part of nothing."""
    __slots__ = ("times", "numbers")

    def __init__(self):
        self.times, self.numbers = 0, {}  # number of the caller, 0 outside modules -> number

    def search_is_due(self):
        return self.times & (self.times - 1) == 0  # 1, 2, 4, 8, ...


class _Forgetting(weakref.ref):
    """A reference to a module, at whose end its number is forgotten: another module may come to lie at its place."""
    __slots__ = ("key", "tree")

    def __new__(cls, module, tree):
        return super().__new__(cls, module, _forget)

    def __init__(self, module, tree):
        super().__init__(module, _forget)
        self.key, self.tree = id(module), tree


def _forget(reference):
    reference.tree.number.pop(reference.key, None)
    reference.tree.alive.pop(reference.key, None)


class _Calls:
    """The calls of one thread: those that ended, and the innermost module being called."""
    __slots__ = ("rows", "inside")

    def __init__(self):
        self.rows, self.inside = [], None


class _Lane(threading.local):
    """The calls of each thread."""
    numbers = itertools.count()
    all = []

    def __init__(self):
        self.calls = _Calls()
        self.number = next(_Lane.numbers)
        _Lane.all.append((self.number, self.calls.rows))
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
        clock, raw, frame = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW, sys._getframe
        compiling = getattr(getattr(self.torch, "compiler", None), "is_dynamo_compiling", None)

        def timed(self, *args, **kwargs):
            key, calls = number(id(self)), lane.calls
            outer = calls.inside
            if key is None:
                key = learn(self, outer, frame(1))
            calls.inside = self if key else outer
            begin = clock(raw)
            try:
                return original(self, *args, **kwargs)
            finally:
                calls.rows.append((key, begin, clock(raw)))
                calls.inside = outer

        def compilable(self, *args, **kwargs):
            if compiling():  # becomes true in code that is being compiled, which then has no scopes
                return original(self, *args, **kwargs)
            key, calls = number(id(self)), lane.calls
            outer = calls.inside
            if key is None:
                key = learn(self, outer, frame(1))
            calls.inside = self if key else outer
            begin = clock(raw)
            try:
                return original(self, *args, **kwargs)
            finally:
                calls.rows.append((key, begin, clock(raw)))
                calls.inside = outer

        return timed if compiling is None else compilable

    def add_to(self, chunk, whole_us):
        """Puts the calls in front of the operators of `chunk`. `whole_us`: the profiler's times are whole microseconds.
        Returns what there is to say: calls, names, nanoseconds that each call cost, searches for whoever holds a module and
        their seconds, calls of threads that the profiler did not see."""
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
        return {"calls": len(found), "names": len({row["args"]["path"] for row in found}), "searches": self.tree.searches,
                "search_seconds": 1e-9 * self.tree.search_ns, "unseen": unseen, "nanoseconds_each": self.cost_ns()}

    def cost_ns(self):
        """Nanoseconds that timing adds to one call of a module, measured here and now: the least of several turns."""
        class Nothing(self.torch.nn.Module):
            def forward(self):
                return None

        nothing, kept = Nothing(), list(self.lane.calls.rows)
        turns = {self.original: [], self._wrapper(): []}
        for _ in range(15):
            for call, took in turns.items():
                begin = now()
                for _ in range(200):
                    call(nothing)
                took.append((now() - begin) / 200)
        self.lane.calls.rows[:] = kept
        plain, timed = (min(took) for took in turns.values())
        return max(timed - plain, 0.0)
