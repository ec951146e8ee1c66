target_compile_definitions(${target} PRIVATE VIRIDIAN_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
