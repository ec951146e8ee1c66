# Prints how long the exact solver takes on networks of real shape, and its gap: build/<preset>/bin/search_benchmark.
add_executable(search_benchmark "${folder}/benchmark/main.cpp" "${folder}/structures.cpp" "${folder}/random_network.cpp")
target_link_libraries(search_benchmark PRIVATE viridian_warnings viridian_search)

# LEMON is the independent minimum cut of min_cut_test.
find_library(LEMON_LIBRARY lemon REQUIRED)
target_link_libraries(${target} PRIVATE ${LEMON_LIBRARY})
