# Scripted libraries: tests/meter/fake/fake_<name>.cpp becomes libviridian_fake_<name>.so beside the tests.
file(GLOB fakes CONFIGURE_DEPENDS "${folder}/fake/fake_*.cpp")
foreach(fake IN LISTS fakes)
    get_filename_component(name "${fake}" NAME_WE)
    add_library(viridian_${name} SHARED "${fake}")
    target_link_libraries(viridian_${name} PRIVATE viridian_warnings)
    set_target_properties(viridian_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    add_dependencies(${target} viridian_${name})
endforeach()
target_link_libraries(${target} PRIVATE ZLIB::ZLIB)

# Meters below VIRIDIAN_ROOT reach every command that prices or runs kernels.
add_test(NAME meter.root_of_commands COMMAND /usr/bin/python3 "${folder}/root_of_commands.py" $<TARGET_FILE:viridian>)
set_tests_properties(meter.root_of_commands PROPERTIES LABELS "meter;release-only" TIMEOUT 300)
