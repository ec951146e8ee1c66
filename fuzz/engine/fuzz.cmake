# Mutants are made of ONNX's messages.
find_package(Protobuf REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
target_compile_definitions(${target} PRIVATE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(${target} PRIVATE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)
