"""The load that the scripted NVML plays (tests/meter/fake/fake_load.hpp): steps in time order, which may lie ahead."""
import os
import struct

IDLE_WATTS, HOST_WATTS = 70.0, 95.0  # nothing to do for long; between two kernels


class LoadFile:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def set(self, time_ns, watts):
        os.write(self.file, struct.pack("<qd", time_ns, watts))
