# Installs the program, the library with its two promised headers, and what lets other projects find it. The library is
# one file, static or shared (BUILD_SHARED_LIBS), made of all rooms but the command line and the monitor.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(objects "")
set(linked "")
foreach(room IN ITEMS base graph meter trace onnx rewrite plan account cost execute prove profile search pipeline optimize
                      session report api)
    list(APPEND objects $<TARGET_OBJECTS:viridian_${room}>)
    list(APPEND linked viridian_${room})
endforeach()
add_library(viridian_library ${objects})
set_target_properties(viridian_library PROPERTIES OUTPUT_NAME viridian EXPORT_NAME viridian LINKER_LANGUAGE CXX
                                                  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
add_library(viridian::viridian ALIAS viridian_library)
target_include_directories(viridian_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                                      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(viridian_library INTERFACE cxx_std_20)

# The system libraries that the rooms use, for the link line here and in the pkg-config file.
set(VIRIDIAN_SYSTEM_LIBRARIES dnnl hwy onnx_proto protobuf sqlite3 fmt z zstd gomp dl pthread)
target_link_libraries(viridian_library PRIVATE ${VIRIDIAN_SYSTEM_LIBRARIES})

install(TARGETS viridian viridian_cupti)
install(TARGETS viridian_library EXPORT viridian-targets)
install(FILES "${PROJECT_SOURCE_DIR}/viridian/viridian.hpp" "${PROJECT_SOURCE_DIR}/viridian/viridian.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/viridian")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/viridian")
install(EXPORT viridian-targets NAMESPACE viridian:: DESTINATION "${package}" FILE viridian-targets.cmake)
file(WRITE "${PROJECT_BINARY_DIR}/viridian-config.cmake"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/viridian-targets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/viridian-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/viridian-config.cmake" "${PROJECT_BINARY_DIR}/viridian-config-version.cmake"
        DESTINATION "${package}")

list(TRANSFORM VIRIDIAN_SYSTEM_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE private)
list(JOIN private " " private)
file(WRITE "${PROJECT_BINARY_DIR}/viridian.pc" "prefix=${CMAKE_INSTALL_PREFIX}
Name: viridian
Description: Measures where a neural network's energy goes, and lowers it while the outputs stay the same
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -lviridian
Libs.private: ${private} -lstdc++
")
install(FILES "${PROJECT_BINARY_DIR}/viridian.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
