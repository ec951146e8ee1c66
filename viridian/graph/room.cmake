# The reference kernels' inner loop, compiled for every instruction set it may meet (operators/multiply_tile.cpp).
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PRIVATE ${HWY_LIBRARY})
# A product that is rounded first stays so where the processor could do both at once.
set_source_files_properties("${folder}/operators/multiply_tile.cpp" PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
