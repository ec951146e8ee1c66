"""Joules between marks, from a running `viridian serve` (docs/serve.md).

    from viridian_monitor import Monitor
    with Monitor("127.0.0.1:50417").session(name="training") as session:
        for epoch in range(10):
            train()
            print(session.mark(f"epoch {epoch}").joules)
    print(session.whole.joules)

Needs grpcio and protobuf; the messages are generated from viridian/serve/monitor.proto by protoc or grpcio-tools.
"""
import contextlib
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import grpc

PROTO = pathlib.Path(os.environ.get("VIRIDIAN_PROTO") or
                     pathlib.Path(__file__).resolve().parent.parent / "viridian/serve/monitor.proto")


def _messages():
    """The module protoc makes of the .proto: one installed beside us, else a fresh one."""
    with contextlib.suppress(ImportError):
        return importlib.import_module("monitor_pb2")
    with tempfile.TemporaryDirectory() as folder:
        compiler = [sys.executable, "-m", "grpc_tools.protoc"] if not shutil.which("protoc") else ["protoc"]
        subprocess.run([*compiler, f"--proto_path={PROTO.parent}", f"--python_out={folder}", PROTO.name], check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module("monitor_pb2")
        finally:
            sys.path.remove(folder)


pb = _messages()


class Monitor:
    """A connection. `target` is HOST:PORT or unix:PATH."""

    def __init__(self, target="127.0.0.1:50417"):
        self.channel = grpc.insecure_channel(target)
        service = "/viridian.monitor.v1.Monitor/"

        def unary(name, reply):
            return self.channel.unary_unary(service + name, request_serializer=lambda m: m.SerializeToString(),
                                            response_deserializer=reply.FromString)

        self.start_call = unary("Start", pb.StartReply)
        self.read_call = unary("Read", pb.Epoch)
        self.stop_call = unary("Stop", pb.StopReply)
        self.stream_call = self.channel.unary_stream(service + "Stream",
                                                     request_serializer=lambda m: m.SerializeToString(),
                                                     response_deserializer=pb.Batch.FromString)

    def session(self, name="", process=None, period_ms=0.0, lease_seconds=0.0, hold=True):
        return Session(self, name, os.getpid() if process is None else process, period_ms, lease_seconds, hold)

    def close(self):
        self.channel.close()


class Session:
    """From `with` to its end. With `hold` a silent stream keeps it alive as long as this process lives, however long
    an epoch takes; without, each mark must come within the lease."""

    def __init__(self, monitor, name, process, period_ms, lease_seconds, hold):
        self.monitor, self.hold, self.held = monitor, hold, None
        self.request = pb.StartRequest(name=name, process=process, period_ms=period_ms, lease_seconds=lease_seconds)
        self.id, self.channels, self.whole, self.last = "", [], None, None

    def __enter__(self):
        started = self.monitor.start_call(self.request)
        self.id, self.channels = started.session, list(started.channels)
        if self.hold:
            self.held = self.monitor.stream_call(pb.StreamRequest(session=self.id, heartbeat_only=True))
        return self

    def mark(self, label=""):
        """The epoch since the last mark; the next begins."""
        return self.monitor.read_call(pb.ReadRequest(session=self.id, label=label))

    def peek(self):
        return self.monitor.read_call(pb.ReadRequest(session=self.id, peek=True))

    def stream(self, interval_ms=0.0):
        """Batches of samples, until the session ends."""
        return self.monitor.stream_call(pb.StreamRequest(session=self.id, interval_ms=interval_ms))

    def __exit__(self, kind, value, trace):
        with contextlib.suppress(grpc.RpcError):  # an error of the training is worth more than ours
            stopped = self.monitor.stop_call(pb.StopRequest(session=self.id))
            self.last, self.whole = stopped.last, stopped.whole
        if self.held is not None:
            self.held.cancel()
        return False
