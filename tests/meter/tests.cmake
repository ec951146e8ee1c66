add_library(viridian_fake_nvml SHARED "${folder}/fake/fake_nvml.cpp")
target_link_libraries(viridian_fake_nvml PRIVATE viridian_warnings)
set_target_properties(viridian_fake_nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
add_dependencies(${target} viridian_fake_nvml)
