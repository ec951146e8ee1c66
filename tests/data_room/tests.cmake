find_package(ZLIB REQUIRED)  # the tests write compressed files
target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
