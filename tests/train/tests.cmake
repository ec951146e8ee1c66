target_link_libraries(${target} PRIVATE viridian_zoo)
file(GLOB kernel_sources CONFIGURE_DEPENDS "${folder}/kernels/*_test.cpp")
list(APPEND sources ${kernel_sources})

# A run that is killed again and again ends in the same bytes.
add_test(NAME train.killed COMMAND /usr/bin/python3 "${folder}/killed.py" $<TARGET_FILE:viridian>)
set_tests_properties(train.killed PROPERTIES LABELS "train;release-only" TIMEOUT 300)
# The first losses of three networks are PyTorch's.
add_test(NAME train.losses COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/benchmarks/training/losses_against_torch.py"
                                   $<TARGET_FILE:viridian> --steps 20)
set_tests_properties(train.losses PROPERTIES LABELS "train;release-only" TIMEOUT 600)

# Damaged step files, models, checkpoints and data files.
add_test(NAME train.mutants COMMAND /usr/bin/python3 "${folder}/mutants.py" $<TARGET_FILE:viridian> --count 120)
set_tests_properties(train.mutants PROPERTIES LABELS "train" TIMEOUT 1800)
