"""One chunk of PyTorch's profiler as rows of Kineto's JSON, whatever build wrote it, on the realtime clock.

Two clocks meet here: the profiler's and CLOCK_REALTIME, on which NVML stamps its readings. An anchor is a call that the
trace shows and that Python bracketed with two readings of the clock: it bounds the difference of the two clocks."""
import json

USER_SCOPE = 7  # c10 RecordScope::USER_SCOPE
ANCHOR, SYNCHRONIZE = "viridian.anchor", "cudaDeviceSynchronize"
OPERATORS = {"cpu_op", "kernel"}
WORK = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill"}


def load(path, anchors):
    """The chunk as {"baseTimeNanoseconds", "traceEvents", ...}. Builds without Kineto write a bare list in relative
    time: `anchors` [(name, before_ns, after_ns)] place it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        data = json.load(file, strict=False)
    if isinstance(data, dict):
        data.setdefault("baseTimeNanoseconds", 0)
        return data
    rows = []
    for index, row in enumerate(data):
        name = row.get("name", "")
        scope = "::" not in name and "Backward" not in name
        rows.append({"ph": "X", "cat": "user_annotation" if scope else "cpu_op", "name": name, "pid": 1,
                     "tid": row.get("tid", 0), "ts": row["ts"], "dur": row["dur"], "args": {"External id": index + 1}})
    chunk = {"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": rows}
    low, high = clock_offset(chunk, anchors)
    if low is None:
        raise ValueError(f"{path} is in relative time and shows none of the anchors")
    chunk["baseTimeNanoseconds"] = -(low + high) // 2
    return chunk


def of_events(events):
    """The chunk of a build without Kineto, whose exported list lacks the sequence numbers and the kinds of events:
    `events` are profile().profiler.kineto_results.events(). Times are whole microseconds since 1970."""
    rows = []
    for event in events:
        arguments = {"External id": event.correlation_id()}
        if event.sequence_nr() >= 0:
            arguments["Sequence number"] = event.sequence_nr()
        if event.fwd_thread_id() != 0:
            arguments["Fwd thread id"] = event.fwd_thread_id()
        user = hasattr(event, "scope") and event.scope() == USER_SCOPE
        if hasattr(event, "start_us"):
            start, duration = event.start_us(), event.duration_us()
        else:  # since PyTorch 2.4
            start, duration = event.start_ns() / 1000, event.duration_ns() / 1000
        rows.append({"ph": "X", "cat": "user_annotation" if user else "cpu_op", "name": event.name(), "pid": 1,
                     "tid": event.start_thread_id(), "ts": start, "dur": duration, "args": arguments})
    return {"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": rows}


def times(chunk, row):
    base = int(chunk["baseTimeNanoseconds"])
    start = base + round(float(row["ts"]) * 1000)
    return start, start + round(float(row.get("dur", 0)) * 1000)


def clock_offset(chunk, anchors):
    """(low, high): nanoseconds that the trace's clock may be ahead of the realtime clock; (None, None) where no anchor
    was seen; low > high where they contradict each other."""
    seen = {}
    for row in chunk["traceEvents"]:
        name = row.get("name", "")
        if row.get("ph") == "X" and (name.startswith(ANCHOR) or name == SYNCHRONIZE) \
                and not str(row.get("cat", "")).startswith("gpu"):
            seen.setdefault(name, []).append(times(chunk, row))
    low = high = None
    for name, before, after in anchors:
        if name not in seen:
            continue
        start, end = min(seen[name], key=lambda one: abs(one[0] + one[1] - before - after))
        low = end - after if low is None else max(low, end - after)
        high = start - before if high is None else min(high, start - before)
    return low, high


def shift(chunk, nanoseconds):
    chunk["baseTimeNanoseconds"] = int(chunk["baseTimeNanoseconds"]) + nanoseconds


def name_kernels(chunk):
    """Puts the grid behind a kernel's name: one kernel at two sizes is two kinds of work."""
    for row in chunk["traceEvents"]:
        grid = row.get("args", {}).get("grid") if row.get("cat") == "kernel" else None
        if grid:
            row["name"] = "%s <%s>" % (row["name"], ",".join(map(str, grid)))


def kernels(chunk):
    """[(start_ns, end_ns, name, kind, device, stream)] of the accelerator, by time."""
    found = []
    for row in chunk["traceEvents"]:
        kind = WORK.get(row.get("cat"))
        if kind is not None and row.get("ph") == "X":
            start, end = times(chunk, row)
            arguments = row.get("args", {})
            found.append((start, end, row["name"], kind, int(arguments.get("device", 0)),
                          int(arguments.get("stream", 7))))
    return sorted(found, key=lambda one: (one[0], -one[1]))


def add_kernels(chunk, found):
    """Puts `found` [(name, begin_ns, end_ns, launched_ns, device)], which the profiler did not see, in as kernels of the
    innermost operator that launched each."""
    chunk["traceEvents"] = [row for row in chunk["traceEvents"] if row.get("name") != "PythonDispatchMode"]
    base = int(chunk["baseTimeNanoseconds"])
    rows = sorted(((*times(chunk, row), row["args"].get("External id", 0)) for row in chunk["traceEvents"]
                   if row.get("cat") == "cpu_op"), key=lambda one: (one[0], -one[1]))
    stack, next_row = [], 0
    for name, begin, end, launched, device in sorted(found, key=lambda one: one[3]):
        while next_row < len(rows) and rows[next_row][0] <= launched:
            stack.append(rows[next_row])
            next_row += 1
        stack = [row for row in stack if row[1] > launched]
        owner = stack[-1][2] if stack else 0
        chunk["traceEvents"].append({"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": 7,
                                     "ts": (begin - base) / 1000, "dur": (end - begin) / 1000,
                                     "args": {"External id": owner, "device": device, "stream": 7, "correlation": 0}})
