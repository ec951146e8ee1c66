# Prints how long the exact solver takes on networks of real shape, and its gap: build/<preset>/bin/search_benchmark.
add_executable(search_benchmark "${folder}/benchmark/main.cpp" "${folder}/structures.cpp" "${folder}/random_network.cpp")
target_link_libraries(search_benchmark PRIVATE viridian_warnings viridian_search)

# LEMON is the independent minimum cut of min_cut_test.
find_library(LEMON_LIBRARY lemon)
if(LEMON_LIBRARY)
    target_link_libraries(${target} PRIVATE ${LEMON_LIBRARY})
else()
    viridian_leave_out("search/min_cut_test.cpp" "liblemon-dev")
    list(FILTER sources EXCLUDE REGEX "min_cut_test")
endif()

# recorded_test builds a network of the zoo.
target_link_libraries(${target} PRIVATE viridian_zoo)
