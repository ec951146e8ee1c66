# What a fleet is set up with (deploy/): held against the program, and against the tools that read it, where those are installed.
find_program(VIRIDIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)  # Debian's, which has python3-grpcio and python3-yaml
if(VIRIDIAN_PYTHON)
    foreach(name dashboard files)
        add_test(NAME deploy.${name} COMMAND "${VIRIDIAN_PYTHON}" "${folder}/${name}_test.py" "$<TARGET_FILE:viridian>")
        set_tests_properties(deploy.${name} PROPERTIES LABELS deploy TIMEOUT 120 SKIP_RETURN_CODE 77)
    endforeach()
endif()
