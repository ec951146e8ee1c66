# The tests compare devices with the reference kernels.
target_link_libraries(${target} PRIVATE viridian_prove)
