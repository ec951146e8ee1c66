find_package(CLI11 REQUIRED)
target_link_libraries(${target} PUBLIC CLI11::CLI11)
target_compile_definitions(${target} PRIVATE VIRIDIAN_VERSION="${PROJECT_VERSION}")
# Most of these files read options and write JSON. They compute nothing, so sanitizers need no optimised code of them.
target_precompile_headers(${target} PRIVATE <viridian/${room}/precompiled.hpp>)
if(VIRIDIAN_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
endif()
