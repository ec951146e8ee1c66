# Commands, flags, targets and links in the documents exist.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME docs.promise_what_there_is COMMAND "${folder}/check_docs.py" "${PROJECT_SOURCE_DIR}" "$<TARGET_FILE:viridian>")
    set_tests_properties(docs.promise_what_there_is PROPERTIES LABELS docs TIMEOUT 120)
endif()
