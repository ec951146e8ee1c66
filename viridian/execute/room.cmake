# Debian's package configuration of oneDNN insists on OpenCL, which the library does not need here.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_package(OpenMP REQUIRED)
target_link_libraries(${target} PUBLIC ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
