add_test(NAME movement.operators COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/movement/operators_test.py" $<TARGET_FILE:viridian>)
set_tests_properties(movement.operators PROPERTIES LABELS "movement;release-only")
add_test(NAME movement.page COMMAND "${PROJECT_SOURCE_DIR}/tests/docs/run_pages.py" $<TARGET_FILE:viridian>
                                    "${PROJECT_SOURCE_DIR}/docs/movement.md")
set_tests_properties(movement.page PROPERTIES LABELS "movement;docs;release-only")
add_test(NAME movement.reproduce COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/movement/reproduce_test.py" $<TARGET_FILE:viridian>)
set_tests_properties(movement.reproduce PROPERTIES LABELS "movement;release-only" TIMEOUT 400)
