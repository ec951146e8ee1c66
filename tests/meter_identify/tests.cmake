# `viridian meter probe` and `identify` in real time against the scripted NVML under a simulated load.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT VIRIDIAN_SANITIZE)
    add_test(NAME meter.identifies_the_scripted_sensor
             COMMAND "${Python3_EXECUTABLE}" "${folder}/identify_simulated.py" "$<TARGET_FILE:viridian>"
                     "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libviridian_fake_nvml.so")
    set_tests_properties(meter.identifies_the_scripted_sensor PROPERTIES LABELS meter TIMEOUT 300)
endif()
