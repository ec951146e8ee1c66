target_link_libraries(${target} PRIVATE viridian_zoo)

# Exported models, simplified and compared: a program, and a test with PyTorch's exports.
add_executable(simplify_tool "${folder}/tools/simplify_tool.cpp")
target_link_libraries(simplify_tool PRIVATE viridian_warnings viridian_rewrite viridian_onnx)
add_test(NAME rewrite.torch_models COMMAND /usr/bin/python3 "${folder}/torch_models.py" $<TARGET_FILE:simplify_tool>)
set_tests_properties(rewrite.torch_models PROPERTIES LABELS "rewrite;release-only" TIMEOUT 300)
