# The system libraries that the rooms use: for the link line of the library, of its pkg-config file and of the extension
# module of Python.
set(VIRIDIAN_SYSTEM_LIBRARIES dnnl hwy onnx_proto protobuf sqlite3 fmt z zstd dl pthread)
