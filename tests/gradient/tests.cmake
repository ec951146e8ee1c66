target_link_libraries(${target} PRIVATE viridian_onnx viridian_rewrite)

# Gradients of networks that PyTorch exports, against PyTorch's own in double.
add_test(NAME gradient.torch COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/benchmarks/training/gradients_against_torch.py"
                                     $<TARGET_FILE:viridian> --quick)
set_tests_properties(gradient.torch PROPERTIES LABELS "gradient;release-only" TIMEOUT 600)
