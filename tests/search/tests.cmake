# Prints how long the exact solver takes on networks of real shape, and its gap: build/<preset>/bin/search_benchmark.
add_executable(search_benchmark "${folder}/benchmark/main.cpp" "${folder}/structures.cpp" "${folder}/random_network.cpp")
target_link_libraries(search_benchmark PRIVATE viridian_warnings viridian_search)
