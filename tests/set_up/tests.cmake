# The set-up on a machine that has less installed, or elsewhere. Skipped under the sanitizers' builds.
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME set_up.configures_with_few_packages COMMAND "${folder}/configures_test.sh")
    add_test(NAME set_up.two_folders_same_bytes COMMAND "${folder}/same_bytes_test.sh")
    set_tests_properties(set_up.configures_with_few_packages set_up.two_folders_same_bytes
                         PROPERTIES LABELS set_up TIMEOUT 1200 SKIP_RETURN_CODE 77)
endif()
