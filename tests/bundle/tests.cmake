# The relocatable archive, made and run in an empty root (docs/bundle.md). Skipped under the sanitizers' builds.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME bundle.runs_where_nothing_is COMMAND "${folder}/bundle_test.sh" "$<TARGET_FILE:viridian>"
                                                       "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libviridian_fake_nvml.so")
    set_tests_properties(bundle.runs_where_nothing_is PROPERTIES LABELS bundle TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
