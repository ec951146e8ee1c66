target_link_libraries(${target} PRIVATE viridian_serve_messages)
target_compile_definitions(${target} PRIVATE VIRIDIAN_SERVE_CLIENT="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/viridian_serve_client")

# A client in a process of its own, which the tests kill.
add_executable(viridian_serve_client "${folder}/client/client.cpp")
target_link_libraries(viridian_serve_client PRIVATE viridian_warnings viridian_serve_messages)
add_dependencies(${target} viridian_serve_client)

# The command with the Python client of examples/, against counters that a script moves.
find_program(VIRIDIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)  # Debian's, which has python3-grpcio
if(VIRIDIAN_PYTHON)
    add_test(NAME serve.command COMMAND "${VIRIDIAN_PYTHON}" "${folder}/command.py" "$<TARGET_FILE:viridian>")
    set_tests_properties(serve.command PROPERTIES LABELS serve TIMEOUT 120)
endif()
