"""Joules between marks, from a running `viridian serve` (docs/serve.md).

    from viridian_monitor import Monitor
    with Monitor().session(name="training") as session:
        for epoch in range(10):
            train()
            print(session.mark(f"epoch {epoch}").joules)
    print(session.whole.joules)

In the installed package this is `viridian.monitor`. Needs grpcio and protobuf; the messages are generated from viridian/serve/monitor.proto by protoc or grpcio-tools.
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

HERE = pathlib.Path(__file__).resolve().parent
PROTO = pathlib.Path(os.environ.get("VIRIDIAN_PROTO") or
                     next(filter(pathlib.Path.exists, (HERE / "monitor.proto", HERE.parent / "viridian/serve/monitor.proto")),
                          HERE / "monitor.proto"))


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


def default_target(user=None, runtime_folder=None):
    """The socket that `viridian serve` of this user listens on if it is not told otherwise: the rule of
    viridian/serve/socket_folder.cpp."""
    user = os.geteuid() if user is None else user
    runtime_folder = os.environ.get("XDG_RUNTIME_DIR", "") if runtime_folder is None else runtime_folder
    if user == 0:
        return "unix:/run/viridian/monitor.sock"
    if not runtime_folder.startswith("/"):
        raise ValueError("XDG_RUNTIME_DIR does not name the folder for your sockets. set it, or give Monitor the "
                         "address that `viridian serve` printed.")
    return f"unix:{pathlib.PurePath(runtime_folder) / 'viridian.sock'}"


class NoMonitor(ConnectionError):
    """Nothing answers at the address."""


class Monitor:
    """A connection. `target` is unix:PATH or HOST:PORT; without one, the socket of this user's `viridian serve`.
    Over TCP the monitor wants its token: as text, or as the file that --token-file named."""

    def __init__(self, target=None, token=None, token_file=None):
        self.target = target or default_target()
        self.channel = grpc.insecure_channel(self.target)
        if token is None and token_file is not None:
            token = pathlib.Path(token_file).read_text(encoding="ascii").strip()
        metadata = (("authorization", f"Bearer {token}"),) if token else None
        service = "/viridian.monitor.v1.Monitor/"

        def with_token(call):
            return lambda request: call(request, metadata=metadata)

        def answered(call):
            def ask(request):
                try:
                    return call(request)
                except grpc.RpcError as error:
                    if error.code() != grpc.StatusCode.UNAVAILABLE:
                        raise
                    raise NoMonitor(f"no monitor answers at {self.target}. start one with `viridian serve`, or give "
                                    "Monitor the address that it printed.") from None
            return ask

        def unary(name, reply):
            return answered(with_token(self.channel.unary_unary(service + name,
                                                                request_serializer=lambda m: m.SerializeToString(),
                                                                response_deserializer=reply.FromString)))

        self.start_call = unary("Start", pb.StartReply)
        self.read_call = unary("Read", pb.Epoch)
        self.stop_call = unary("Stop", pb.StopReply)
        self.stream_call = with_token(self.channel.unary_stream(service + "Stream",
                                                                request_serializer=lambda m: m.SerializeToString(),
                                                                response_deserializer=pb.Batch.FromString))

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
        with contextlib.suppress(grpc.RpcError, NoMonitor):  # an error of the training is worth more than ours
            stopped = self.monitor.stop_call(pb.StopRequest(session=self.id))
            self.last, self.whole = stopped.last, stopped.whole
        if self.held is not None:
            self.held.cancel()
        return False
