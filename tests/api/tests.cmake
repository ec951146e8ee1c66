# The installed library: examples in C++ and C are built against it, with CMake's package and with pkg-config, and run.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME api.installed_library COMMAND "${folder}/installed.sh" "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}"
                                                "$<TARGET_FILE:viridian>")
    set_tests_properties(api.installed_library PROPERTIES LABELS api TIMEOUT 600)
endif()
# A program with OpenMP of its own beside the library, in each link order.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME api.openmp COMMAND "${folder}/openmp.sh" "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}"
                                     "$<TARGET_FILE:viridian>")
    set_tests_properties(api.openmp PROPERTIES LABELS api TIMEOUT 300)
endif()
