# The harness that compares with other runtimes (benchmarks/peers), on a model of a second. Nothing depends on a time.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME peers.harness COMMAND "${PROJECT_SOURCE_DIR}/tests/onnx/peers/run_peer_test" "${folder}/harness_test.py"
                                        $<TARGET_FILE:viridian>)
    set_tests_properties(peers.harness PROPERTIES LABELS "peers;release-only" TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
