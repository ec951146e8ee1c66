find_package(CLI11 REQUIRED)
target_link_libraries(${target} PUBLIC CLI11::CLI11)
target_compile_definitions(${target} PRIVATE VIRIDIAN_VERSION="${PROJECT_VERSION}")
