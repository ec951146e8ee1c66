find_package(ZLIB REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
target_link_libraries(${target} PRIVATE ZLIB::ZLIB ${ZSTD_LIBRARY} ${CMAKE_DL_LIBS})
