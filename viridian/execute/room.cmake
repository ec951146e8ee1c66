# Debian's package configuration of oneDNN insists on OpenCL, which the library does not need here.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_package(OpenMP REQUIRED)
target_link_libraries(${target} PRIVATE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
# Our own vector code, compiled for every instruction set it may meet.
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PUBLIC ${HWY_LIBRARY})
file(GLOB_RECURSE simd_sources CONFIGURE_DEPENDS "${folder}/cpu/simd/*.cpp")
set_source_files_properties(${simd_sources} PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON
                            SKIP_UNITY_BUILD_INCLUSION ON)
# Compiled with OpenMP, so the rooms' common precompiled header does not fit.
target_precompile_headers(${target} PRIVATE "${folder}/precompiled.hpp")

