# Prints how long the exact solver takes on networks of real shape, and its gap: build/<preset>/bin/search_benchmark.
add_executable(search_benchmark "${folder}/benchmark/main.cpp" "${folder}/structures.cpp" "${folder}/random_network.cpp")
target_link_libraries(search_benchmark PRIVATE viridian_warnings viridian_search)

# LEMON is the independent minimum cut of min_cut_test.
find_library(LEMON_LIBRARY lemon REQUIRED)
target_link_libraries(${target} PRIVATE ${LEMON_LIBRARY})

# g++ 12 loses track of LEMON's constructors when it instruments them.
if(VIRIDIAN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties("${folder}/min_cut_test.cpp" PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()

# recorded_test builds a network of the zoo.
target_link_libraries(${target} PRIVATE viridian_zoo)
