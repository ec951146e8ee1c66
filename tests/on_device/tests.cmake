# What a session with a GPU runs (tools/on_device), here on the simulated GPU, the scripted NVML and the scripted CUPTI.
# Debian's PyTorch.
if(NOT VIRIDIAN_SANITIZE)
    set(fake_nvml "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libviridian_fake_nvml.so")
    add_test(NAME on_device.records_the_simulated_gpu
             COMMAND /usr/bin/python3 "${folder}/record_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}")
    add_test(NAME on_device.instruments_the_simulated_gpu
             COMMAND /usr/bin/python3 "${folder}/instrument_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}")
    add_test(NAME on_device.records_traces_of_programs
             COMMAND /usr/bin/python3 "${folder}/record_traces.py" "$<TARGET_FILE:viridian>"
                     "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    add_test(NAME on_device.recordings_balance
             COMMAND /usr/bin/python3 "${folder}/recordings.py" "$<TARGET_FILE:viridian>"
                     "${PROJECT_SOURCE_DIR}/tests/data/recordings")
    set_tests_properties(on_device.records_the_simulated_gpu on_device.instruments_the_simulated_gpu
                         on_device.records_traces_of_programs on_device.recordings_balance
                         PROPERTIES LABELS on_device TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
