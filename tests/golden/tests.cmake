# Text in, text out: one test for each folder of cases, here and in tests/rejects (run_golden.py says what a case is).
function(viridian_golden_tests room folder)
    file(GLOB subjects CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*")
    foreach(subject IN LISTS subjects)
        if(IS_DIRECTORY "${folder}/${subject}" AND NOT subject STREQUAL "__pycache__")
            add_test(NAME ${room}.${subject}
                     COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/tests/golden/run_golden.py" "$<TARGET_FILE:viridian>"
                             "${folder}/${subject}")
            set_tests_properties(${room}.${subject} PROPERTIES LABELS "${room}" TIMEOUT 300)
        endif()
    endforeach()
endfunction()

# The sanitizers' builds are slow and say nothing new about right input; tests/rejects runs under them too.
if(NOT VIRIDIAN_SANITIZE)
    viridian_golden_tests(golden "${folder}")
    # It times kernels on two threads, so it needs two free processors.
    set_tests_properties(golden.train PROPERTIES PROCESSORS 2)
endif()
