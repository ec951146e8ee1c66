target_link_libraries(${target} PRIVATE viridian_onnx viridian_rewrite)

# Gradients of networks that PyTorch exports, against PyTorch's own in double.
add_test(NAME gradient.torch COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/benchmarks/training/gradients_against_torch.py"
                                     $<TARGET_FILE:viridian> --quick)
set_tests_properties(gradient.torch PROPERTIES LABELS "gradient;release-only" TIMEOUT 600)
# ONNX Runtime runs training steps of the zoo, with our loss and gradients.
add_test(NAME gradient.steps_in_onnxruntime
         COMMAND "${PROJECT_SOURCE_DIR}/tests/onnx/peers/run_peer_test" "${PROJECT_SOURCE_DIR}/benchmarks/training/steps_in_onnxruntime.py"
                 $<TARGET_FILE:viridian> --small)
set_tests_properties(gradient.steps_in_onnxruntime PROPERTIES LABELS "gradient;release-only;peers" TIMEOUT 600 SKIP_RETURN_CODE 77)
