add_test(NAME movement.operators COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/movement/operators_test.py" $<TARGET_FILE:viridian>)
set_tests_properties(movement.operators PROPERTIES LABELS "movement;release-only")
