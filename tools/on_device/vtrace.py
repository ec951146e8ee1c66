"""Writes kernels as Viridian's compact binary trace (docs/trace.md, "Binary"): names once, numbers as differences.
Python before 3.14 has no zstd: then the frames hold their bytes as they are and the file is compressed as a whole by
gzip; `viridian trace convert` packs it better."""
import gzip
import importlib

KINDS = {"kernel": 1, "copy": 2, "fill": 3}
BLOCK = 1 << 14  # events


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value):
    return varint(value << 1 ^ value >> 63)


def text(value):
    data = value.encode("utf-8", "replace")
    return varint(len(data)) + data


def zstd():
    """A function that makes a frame, and whether it makes it smaller."""
    for module in ("compression.zstd", "zstandard"):
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        if module == "zstandard":
            return found.ZstdCompressor(level=19).compress, True
        return lambda data: found.compress(data, level=19), True
    return stored, False


def stored(data):
    """A zstd frame (RFC 8878, 3.1.1) of raw blocks: single segment, size in four bytes, no checksum."""
    out = bytearray(b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little"))
    pieces = [data[at:at + (1 << 17)] for at in range(0, len(data), 1 << 17)] or [b""]
    for index, piece in enumerate(pieces):
        out += (len(piece) << 3 | (index + 1 == len(pieces))).to_bytes(3, "little") + piece
    return bytes(out)


def write(path, kernels, source, lost=0):
    """`kernels` as kineto.kernels gives them, in time order. Returns the file's name: `path`, or `path`.gz."""
    frame, packs = zstd()
    names, lanes, devices = {}, {}, {}
    path = path if packs else path + ".gz"
    with open(path, "wb") if packs else gzip.GzipFile(path, "wb", 9, mtime=0) as file:

        def block(kind, payload):
            packed = frame(payload)
            file.write(kind + varint(len(payload)) + varint(len(packed)) + packed)

        file.write(b"VIRTRC01")
        for first in range(0, len(kernels), BLOCK):
            new_names, new_devices, new_lanes, events = [], [], [], bytearray()
            last = kernels[first][0]
            events += signed(last)
            for start, end, name, kind, device, stream in kernels[first:first + BLOCK]:
                if name not in names:
                    names[name] = len(names) + 1
                    new_names.append(name)
                if device not in devices:
                    devices[device] = len(devices)
                    new_devices.append(f"cuda:{device}")
                if (device, stream) not in lanes:
                    lanes[device, stream] = len(lanes)
                    new_lanes.append((device, stream))
                number = names[name]  # the path of a kernel alone is its name: both count from 1
                events += b"\x00" + bytes([KINDS[kind]]) + varint(start - last) + varint(max(0, end - start)) \
                    + varint(number) * 2 + varint(lanes[device, stream]) + b"\x00"
                last = start
            payload = varint(len(new_names)) + b"".join(map(text, new_names))
            payload += varint(len(new_names)) + b"".join(b"\x00" + varint(names[name]) for name in new_names)
            payload += varint(len(new_devices)) + b"".join(map(text, new_devices))
            payload += varint(len(new_lanes)) + b"".join(
                varint(devices[device]) + signed(0) + signed(stream) + text(f"stream {stream}")
                for device, stream in new_lanes)
            block(b"E", payload + varint(len(kernels[first:first + BLOCK])) + bytes(events))
        footer = text("kineto") + text(source) + b"\x00" + signed(1) + b"\x00\x00" + varint(len(kernels))
        block(b"F", footer + varint(lost) + b"\x00" + varint(len(kernels)))
    return path
