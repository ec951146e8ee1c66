# This test has parallel regions of its own; the common precompiled header is compiled without.
find_package(OpenMP REQUIRED)
set_source_files_properties("${folder}/process_test.cpp" PROPERTIES COMPILE_OPTIONS -fopenmp SKIP_PRECOMPILE_HEADERS ON
                            SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(${target} PRIVATE ${OpenMP_CXX_LIBRARIES})
# Kernels that change have another version; those whose comments change have not.
add_test(NAME execute.code_hash COMMAND "${CMAKE_COMMAND}" -P "${folder}/code_hash.cmake")
set_tests_properties(execute.code_hash PROPERTIES LABELS execute)
file(GLOB sub_sources CONFIGURE_DEPENDS "${folder}/product/*_test.cpp" "${folder}/timing/*_test.cpp")
list(APPEND sources ${sub_sources})
