# What a session with a GPU runs (tools/on_device), here on the simulated GPU, the scripted NVML and the scripted CUPTI.
# Debian's PyTorch.
if(NOT VIRIDIAN_SANITIZE)
    set(fake_nvml "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libviridian_fake_nvml.so")
    foreach(seen_by cupti events)
        add_test(NAME on_device.records_the_simulated_gpu_by_${seen_by}
                 COMMAND /usr/bin/python3 "${folder}/record_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}" ${seen_by})
    endforeach()
    # The pieces of `instrument`, apart so that none lasts long.
    add_test(NAME on_device.instruments_the_sensor
             COMMAND /usr/bin/python3 "${folder}/instrument_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}" sensor)
    add_test(NAME on_device.instruments_operators_alone
             COMMAND /usr/bin/python3 "${folder}/instrument_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}" bert_large
                     truth)
    add_test(NAME on_device.instruments_bert
             COMMAND /usr/bin/python3 "${folder}/instrument_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}" bert_base)
    add_test(NAME on_device.instruments_short_workloads
             COMMAND /usr/bin/python3 "${folder}/instrument_simulated.py" "$<TARGET_FILE:viridian>" "${fake_nvml}" resnet50,gpt)
    add_test(NAME on_device.records_traces_of_programs
             COMMAND /usr/bin/python3 "${folder}/record_traces.py" "$<TARGET_FILE:viridian>"
                     "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    add_test(NAME on_device.names_modules
             COMMAND /usr/bin/python3 "${folder}/modules.py" "$<TARGET_FILE:viridian>")
    add_test(NAME on_device.traces_every_rank
             COMMAND /usr/bin/python3 "${folder}/ranks.py" "$<TARGET_FILE:viridian>")
    add_test(NAME on_device.recordings_balance
             COMMAND /usr/bin/python3 "${folder}/recordings.py" "$<TARGET_FILE:viridian>"
                     "${PROJECT_SOURCE_DIR}/tests/data/recordings")
    add_test(NAME on_device.commands_fit COMMAND /usr/bin/python3 "${folder}/commands.py")
    add_test(NAME on_device.counters_have_a_beat COMMAND /usr/bin/python3 "${folder}/beat.py")
    add_test(NAME on_device.leaves_sitecustomize_in_place COMMAND /usr/bin/python3 "${folder}/sitecustomize_check.py")
    set_tests_properties(on_device.records_the_simulated_gpu_by_cupti on_device.records_the_simulated_gpu_by_events
                         on_device.instruments_the_sensor on_device.instruments_operators_alone on_device.instruments_bert
                         on_device.instruments_short_workloads on_device.records_traces_of_programs
                         on_device.recordings_balance on_device.commands_fit
                         on_device.counters_have_a_beat on_device.leaves_sitecustomize_in_place
                         on_device.names_modules on_device.traces_every_rank
                         PROPERTIES LABELS on_device TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
