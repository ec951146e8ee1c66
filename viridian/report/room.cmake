# Pages are real .html, .css and .js files, embedded as text: asset("page.css").
file(GLOB assets CONFIGURE_DEPENDS "${folder}/*.html" "${folder}/*.css" "${folder}/*.js")
set(generated "${PROJECT_BINARY_DIR}/generated/report_assets.cpp")
add_custom_command(OUTPUT "${generated}"
                   COMMAND "${CMAKE_COMMAND}" -D "OUTPUT=${generated}" -D "FILES=${assets}" -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
                   DEPENDS ${assets} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake" VERBATIM)
target_sources(${target} PRIVATE "${generated}")
