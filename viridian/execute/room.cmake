# Debian's package configuration of oneDNN insists on OpenCL, which the library does not need here.
find_library(DNNL_LIBRARY dnnl REQUIRED)
target_link_libraries(${target} PRIVATE ${DNNL_LIBRARY} ${CMAKE_DL_LIBS})
# Our own vector code, compiled for every instruction set it may meet.
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PUBLIC ${HWY_LIBRARY})
file(GLOB_RECURSE simd_sources CONFIGURE_DEPENDS "${folder}/cpu/simd/*.cpp")
set(simd_options -O3)
if(VIRIDIAN_SANITIZE)
    set(simd_options "")  # each of these sources would take minutes with -O3 and all checks
endif()
set_source_files_properties(${simd_sources} PROPERTIES COMPILE_OPTIONS "${simd_options}" SKIP_PRECOMPILE_HEADERS ON
                            SKIP_UNITY_BUILD_INCLUSION ON)
if(VIRIDIAN_SANITIZE)  # those for bf16 would take minutes even with the -O1 of the presets
    file(GLOB_RECURSE bf16_sources CONFIGURE_DEPENDS "${folder}/cpu/simd/bf16/*.cpp")
    set_source_files_properties(${bf16_sources} PROPERTIES COMPILE_OPTIONS -O0)
endif()
# oneDNN's headers are large, so this room has a precompiled header of its own.
target_precompile_headers(${target} PRIVATE <viridian/${room}/precompiled.hpp>)

# The version of the kernels is a hash of their sources.
set(kernel_folders "${folder}/cpu/kernels" "${folder}/cpu/simd")
set(generated "${PROJECT_BINARY_DIR}/generated/kernels_version.cpp")
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS "${folder}/cpu/kernels/*.[ch]pp" "${folder}/cpu/simd/*.[ch]pp")
add_custom_command(OUTPUT "${generated}"
                   COMMAND "${CMAKE_COMMAND}" -D "OUTPUT=${generated}" -D "FOLDERS=${kernel_folders}"
                           -P "${PROJECT_SOURCE_DIR}/cmake/code_hash.cmake"
                   DEPENDS ${kernel_sources} "${PROJECT_SOURCE_DIR}/cmake/code_hash.cmake" VERBATIM)
target_sources(${target} PRIVATE "${generated}")
