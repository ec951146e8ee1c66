# The reference kernels' inner loop, compiled for every instruction set it may meet (reference/multiply_tile.cpp).
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PRIVATE ${HWY_LIBRARY})
# A product that is rounded first stays so where the processor could do both at once.
set_source_files_properties("${folder}/reference/multiply_tile.cpp" PROPERTIES COMPILE_OPTIONS -ffp-contract=off
                            SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
