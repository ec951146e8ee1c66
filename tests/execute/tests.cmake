# This test has parallel regions of its own; the common precompiled header is compiled without.
set_source_files_properties("${folder}/process_test.cpp" PROPERTIES COMPILE_OPTIONS -fopenmp SKIP_PRECOMPILE_HEADERS ON)
