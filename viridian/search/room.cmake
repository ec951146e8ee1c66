# The solver's inner loops, compiled for every instruction set they may meet (exact/rows.cpp).
find_library(HWY_LIBRARY hwy REQUIRED)
target_link_libraries(${target} PRIVATE ${HWY_LIBRARY})
set_source_files_properties("${folder}/exact/rows.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
