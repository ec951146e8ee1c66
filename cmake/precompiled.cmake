# Precompiled headers: the standard library and fmt, which most files use. JSON, CLI11 and oneDNN are not among them,
# because a precompiled header that holds them costs every file more than reading them costs the few that need them.
# All rooms with the same compiler flags share one header; tests share another, with GoogleTest. A room whose files nearly
# all need more has a `precompiled.hpp` of its own (cmake/rooms.cmake): cli for options and JSON, execute for oneDNN.

function(viridian_precompiled_library name)
    file(WRITE "${PROJECT_BINARY_DIR}/generated/empty.cpp.in" "")
    configure_file("${PROJECT_BINARY_DIR}/generated/empty.cpp.in" "${PROJECT_BINARY_DIR}/generated/${name}.cpp" COPYONLY)
    add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/generated/${name}.cpp")
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE viridian_warnings fmt::fmt ${ARGN})
endfunction()

viridian_precompiled_library(viridian_precompiled)
target_precompile_headers(viridian_precompiled PRIVATE <cmake/precompiled.hpp>)

function(viridian_precompile target)
    target_precompile_headers(${target} REUSE_FROM viridian_precompiled)
endfunction()

# The same for tests, which are programs: without the flag for shared libraries, and with GoogleTest.
function(viridian_test_precompiled_header)
    viridian_precompiled_library(viridian_tests_precompiled GTest::gmock_main)
    set_target_properties(viridian_tests_precompiled PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(viridian_tests_precompiled PRIVATE <cmake/precompiled.hpp>
                                                                 <gmock/gmock.h> <gtest/gtest.h>)
    viridian_test_options(viridian_tests_precompiled)
endfunction()

function(viridian_precompile_tests target)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(${target} REUSE_FROM viridian_tests_precompiled)
    viridian_test_options(${target})
endfunction()

# Tests themselves compute little, so the compiler spends less time on them, and with sanitizers none. They need no counters
# that guide fuzzers.
function(viridian_test_options target)
    if(VIRIDIAN_SANITIZE)
        target_compile_options(${target} PRIVATE -O0)
    elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
        target_compile_options(${target} PRIVATE -O1)
    endif()
    if(VIRIDIAN_FUZZ)
        target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)
    endif()
endfunction()
