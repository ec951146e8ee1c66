# Installs the program, the library with its two promised headers, and what lets other projects find it. The library holds
# all rooms but the command line and the monitor. `cmake --install FOLDER --component library` leaves the program out.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(objects "")
foreach(room IN ITEMS base graph movement meter trace data onnx rewrite plan account cost execute prove profile search pipeline optimize
                      session report api)
    list(APPEND objects $<TARGET_OBJECTS:viridian_${room}>)
endforeach()

include(cmake/system_libraries.cmake)

# Packages find the shared library as viridian::viridian and the static one as viridian::static. Both have the same objects.
add_library(viridian_shared SHARED ${objects})
set(exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
target_link_options(viridian_shared PRIVATE "LINKER:--version-script=${exports}")
set_target_properties(viridian_shared PROPERTIES EXPORT_NAME viridian LINK_DEPENDS "${exports}" VERSION ${PROJECT_VERSION}
                                                 SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(viridian_static STATIC ${objects})
set_target_properties(viridian_static PROPERTIES EXPORT_NAME static)
foreach(library IN ITEMS viridian_shared viridian_static)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME viridian LINKER_LANGUAGE CXX)
    target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${library} INTERFACE cxx_std_20)
    target_link_libraries(${library} PRIVATE ${VIRIDIAN_SYSTEM_LIBRARIES})
    install(TARGETS ${library} EXPORT viridian-targets COMPONENT library)
endforeach()

install(TARGETS viridian)
# Manual pages and completions come from the program itself.
install(CODE "
    set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    execute_process(COMMAND \"$<TARGET_FILE:viridian>\" man --into \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\"
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    foreach(pair IN ITEMS bash:bash-completion/completions/viridian zsh:zsh/site-functions/_viridian
                          fish:fish/vendor_completions.d/viridian.fish)
        string(REPLACE : \";\" pair \"\${pair}\")
        list(GET pair 0 shell)
        list(GET pair 1 file)
        get_filename_component(folder \"\${root}/${CMAKE_INSTALL_DATADIR}/\${file}\" DIRECTORY)
        file(MAKE_DIRECTORY \"\${folder}\")
        execute_process(COMMAND \"$<TARGET_FILE:viridian>\" completion \"\${shell}\"
                        OUTPUT_FILE \"\${root}/${CMAKE_INSTALL_DATADIR}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
")
# What `viridian record` puts into other programs.
install(TARGETS viridian_cupti DESTINATION lib/viridian)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/on_device" DESTINATION "${CMAKE_INSTALL_DATADIR}/viridian"
        USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/viridian/viridian.hpp" "${PROJECT_SOURCE_DIR}/viridian/viridian.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/viridian" COMPONENT library)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT library)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/viridian")
install(EXPORT viridian-targets NAMESPACE viridian:: DESTINATION "${package}" FILE viridian-targets.cmake
        COMPONENT library)
# In a folder of their own: CMake searches for packages beside every program of PATH, which may be the build folder.
file(WRITE "${PROJECT_BINARY_DIR}/package/viridian-config.cmake"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/viridian-targets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/viridian-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/viridian-config.cmake"
              "${PROJECT_BINARY_DIR}/package/viridian-config-version.cmake"
        DESTINATION "${package}" COMPONENT library)

file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
list(TRANSFORM VIRIDIAN_SYSTEM_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE private)
list(JOIN private " " private)
file(WRITE "${PROJECT_BINARY_DIR}/viridian.pc" "prefix=\${pcfiledir}/${up}
Name: viridian
Description: Measures where a neural network's energy goes, and lowers it while the outputs stay the same
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -lviridian
Libs.private: ${private} -lstdc++
")
install(FILES "${PROJECT_BINARY_DIR}/viridian.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
