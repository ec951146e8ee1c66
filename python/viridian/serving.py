"""Windows of energy that `viridian serve` measures, for a process that may not read the meters itself."""
from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import struct
import subprocess
from typing import Any

from .errors import InputError, MachineError


def given_address() -> str:
    """The monitor that VIRIDIAN_MONITOR names: unix:PATH or HOST:PORT."""
    return os.environ.get("VIRIDIAN_MONITOR", "")


def usual_socket() -> str | None:
    """The socket where `viridian serve` of this user, or of root, listens, if there is one (docs/serve.md)."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [pathlib.Path(folder, "viridian.sock")] if folder.startswith("/") and os.geteuid() != 0 else []
    found = next((one for one in [*own, pathlib.Path("/run/viridian/monitor.sock")] if one.is_socket() and os.access(one, os.W_OK)),
                 None)
    return f"unix:{found}" if found else None


def _process_there(address: str) -> int:
    """The number of this process as the monitor sees it; 0 if the two may be in different PID namespaces."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address.removeprefix("unix:"))
        peer, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if os.readlink(f"/proc/{peer}/ns/pid") == os.readlink("/proc/self/ns/pid"):
            return os.getpid()
    return 0


class ServedWindows:
    """As `_core.Windows`, by the monitor at `address`."""

    def __init__(self, address: str) -> None:
        try:
            from . import monitor
        except (ImportError, OSError, subprocess.SubprocessError) as error:
            raise MachineError("missing_entry", f"the monitor at {address} is asked by gRPC, which does not work: {error}",
                               "install grpcio and grpcio-tools, or unset VIRIDIAN_MONITOR") from error
        self._monitor, self._address, self._sessions = monitor, address, {}
        token = os.environ.get("VIRIDIAN_MONITOR_TOKEN_FILE") or None
        try:
            self._connection = monitor.Monitor(address, token_file=token)
        except (OSError, ValueError) as error:
            raise InputError("file_unreadable", f"the token of the monitor cannot be read: {error}",
                             "name its file by VIRIDIAN_MONITOR_TOKEN_FILE") from error
        self._process = _process_there(address) if address.startswith("unix:") else 0

    def _asked(self, call: Any) -> Any:
        import grpc
        try:
            return call()
        except (grpc.RpcError, self._monitor.NoMonitor) as error:
            said = error.details() if isinstance(error, grpc.RpcError) else f"no monitor answers at {self._address}"
            raise MachineError("device_failed", f"the monitor does not measure: {said}",
                               "start it with `viridian serve`, and name its address by VIRIDIAN_MONITOR") from error

    def close(self) -> None:
        self._connection.close()

    def begin(self) -> str:
        session = self._asked(self._connection.session(name="viridian.measure", process=self._process).__enter__)
        self._sessions[session.id] = session
        return session.id

    def end(self, window: str) -> dict[str, Any]:
        session = self._sessions.pop(window)
        stopped = self._asked(lambda: self._connection.stop_call(self._monitor.pb.StopRequest(session=window)))
        session.held.cancel()
        epoch, counted = stopped.whole, [one for one in stopped.whole.energies if session.channels[one.channel].counted]
        channels = [(about.device, about.scope, about.counted, (one.joules, one.low, one.high, about.provenance),
                     one.process_share if one.HasField("process_share") else None)
                    for one in epoch.energies for about in [session.channels[one.channel]]]
        energy = (epoch.joules, sum(one.low for one in counted), sum(one.high for one in counted), epoch.provenance)
        return {"seconds": epoch.seconds, "energy": energy, "complete": epoch.complete, "warnings": list(epoch.warnings),
                "begin_ns": epoch.begin_ns, "end_ns": epoch.end_ns, "channels": channels}
