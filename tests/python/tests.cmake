# The Python package, installed with `pip install .` into the virtual environment of tools/python/environment. It links the library
# of this build folder. Where the environment is missing, the tests are skipped, and tools/python/skipped lists them.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME python.install COMMAND "${folder}/install" "${PROJECT_BINARY_DIR}")
    set_tests_properties(python.install PROPERTIES LABELS python TIMEOUT 900 SKIP_RETURN_CODE 77 FIXTURES_SETUP python_package)
    file(GLOB scripts CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*_test.py")
    foreach(script IN LISTS scripts)
        string(REGEX REPLACE "_test.py$" "" name "${script}")
        add_test(NAME python.${name} COMMAND "${folder}/run_python_test" "${script}" "$<TARGET_FILE:viridian>")
        set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 600 SKIP_RETURN_CODE 77
                                                       FIXTURES_REQUIRED python_package)
    endforeach()
    # ONNX's backend tests through viridian.backend: as many as the conformance program passes (tests/onnx).
    add_test(NAME python.conformance COMMAND "${folder}/run_conformance" "${PROJECT_SOURCE_DIR}/tests/onnx/conformance_excluded.txt"
                                             --least 1620)
    set_tests_properties(python.conformance PROPERTIES LABELS "python;peers;release-only" TIMEOUT 1800 SKIP_RETURN_CODE 77
                                                       FIXTURES_REQUIRED python_package)
endif()
