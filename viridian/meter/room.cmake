target_link_libraries(${target} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
find_package(ZLIB REQUIRED)
target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
target_compile_definitions(${target} PRIVATE VIRIDIAN_VERSION="${PROJECT_VERSION}")
