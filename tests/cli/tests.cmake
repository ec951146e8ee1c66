target_compile_definitions(${target} PRIVATE VIRIDIAN_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
target_compile_definitions(${target} PRIVATE VIRIDIAN_FAKE_CUPTI_LIBRARY="$<TARGET_FILE:viridian_fake_cupti>")
add_dependencies(${target} viridian_fake_cupti)
