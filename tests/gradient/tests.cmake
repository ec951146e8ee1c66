target_link_libraries(${target} PRIVATE viridian_onnx viridian_rewrite)
