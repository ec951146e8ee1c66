add_test(NAME zoo.networks_in_onnxruntime
         COMMAND "${PROJECT_SOURCE_DIR}/tests/onnx/peers/run_peer_test" "${folder}/networks_in_onnxruntime.py"
                 $<TARGET_FILE:viridian> $<TARGET_FILE:model_tool>)
set_tests_properties(zoo.networks_in_onnxruntime PROPERTIES LABELS "zoo;release-only;peers" TIMEOUT 900 SKIP_RETURN_CODE 77)
add_test(NAME zoo.torch_layers
         COMMAND /usr/bin/python3 "${folder}/torch_layers.py" $<TARGET_FILE:viridian> $<TARGET_FILE:model_tool>)
set_tests_properties(zoo.torch_layers PROPERTIES LABELS "zoo;release-only" TIMEOUT 600 SKIP_RETURN_CODE 77)
