target_link_libraries(${target} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
find_package(ZLIB REQUIRED)
target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
