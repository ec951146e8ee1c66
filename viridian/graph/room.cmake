# The reference kernels' inner loop, compiled for every instruction set it may meet (reference/multiply_tile.cpp).
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PRIVATE ${HWY_LIBRARY})
if(VIRIDIAN_SANITIZE)
    # The reference kernels, which most tests compare with, take minutes without an optimiser. The precompiled header that
    # rooms share is made without one.
    target_compile_options(${target} PRIVATE -O1)
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endif()
# A product that is rounded first stays so where the processor could do both at once.
set_source_files_properties("${folder}/reference/multiply_tile.cpp" PROPERTIES COMPILE_OPTIONS -ffp-contract=off
                            SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
