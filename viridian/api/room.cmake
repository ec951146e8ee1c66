target_compile_definitions(${target} PRIVATE VIRIDIAN_VERSION="${PROJECT_VERSION}")
