# What a session with a GPU runs (tools/on_device), here on the simulated GPU and the scripted NVML. Debian's PyTorch.
if(NOT VIRIDIAN_SANITIZE)
    set(fake_nvml "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libviridian_fake_nvml.so")
    add_test(NAME on_device.records_the_simulated_gpu
             COMMAND /usr/bin/python3 "${folder}/record_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}")
    set_tests_properties(on_device.records_the_simulated_gpu PROPERTIES LABELS on_device TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
