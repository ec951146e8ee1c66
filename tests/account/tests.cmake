# Traces that nobody here wrote, through the command: real files, and what frameworks write while the test runs.
add_test(NAME account.foreign_traces
         COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/tools/foreign_traces" "${PROJECT_SOURCE_DIR}/tests/data/traces"
                 --viridian $<TARGET_FILE:viridian>)
add_test(NAME account.traces_of_torch
         COMMAND /usr/bin/python3 "${folder}/traces_written_now.py" $<TARGET_FILE:viridian> torch)
add_test(NAME account.traces_of_onnxruntime
         COMMAND "${PROJECT_SOURCE_DIR}/tests/onnx/peers/run_peer_test" "${folder}/traces_written_now.py"
                 $<TARGET_FILE:viridian> onnxruntime)
set_tests_properties(account.foreign_traces account.traces_of_torch PROPERTIES LABELS "account;release-only" TIMEOUT 120
                     SKIP_RETURN_CODE 77)
set_tests_properties(account.traces_of_onnxruntime PROPERTIES LABELS "account;release-only;peers" TIMEOUT 120
                     SKIP_RETURN_CODE 77)
