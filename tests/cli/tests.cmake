target_compile_definitions(${target} PRIVATE VIRIDIAN_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
target_compile_definitions(${target} PRIVATE VIRIDIAN_FAKE_CUPTI_LIBRARY="$<TARGET_FILE:viridian_fake_cupti>")
add_dependencies(${target} viridian_fake_cupti)

# Prices outlive a kill -9.
add_test(NAME cli.resume COMMAND /usr/bin/python3 "${folder}/resume.py" $<TARGET_FILE:viridian>)
set_tests_properties(cli.resume PROPERTIES LABELS "cli;release-only" TIMEOUT 300)

# A step holds its states once.
add_test(NAME cli.step_memory COMMAND /usr/bin/python3 "${folder}/step_memory.py" $<TARGET_FILE:viridian>)
set_tests_properties(cli.step_memory PROPERTIES LABELS "cli;release-only" TIMEOUT 120)

file(GLOB train_sources CONFIGURE_DEPENDS "${folder}/train/*_test.cpp")
list(APPEND sources ${train_sources})
