# gRPC, Prometheus and CivetWeb are used here and nowhere else. The messages are generated from monitor.proto at build time;
# what is generated keeps its own warnings to itself.
find_package(Protobuf REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
find_library(GRPCPP_LIBRARY grpc++ REQUIRED)
find_library(GRPC_LIBRARY grpc REQUIRED)
find_library(GPR_LIBRARY gpr REQUIRED)
find_library(ABSL_SYNCHRONIZATION_LIBRARY absl_synchronization REQUIRED)
find_package(prometheus-cpp REQUIRED CONFIG)
find_library(CIVETWEB_CPP_LIBRARY civetweb-cpp REQUIRED)
find_library(CIVETWEB_LIBRARY civetweb REQUIRED)

set(generated "${PROJECT_BINARY_DIR}/generated")
set(stem "${generated}/viridian/serve/monitor")
file(MAKE_DIRECTORY "${generated}/viridian/serve")
add_custom_command(
    OUTPUT "${stem}.pb.cc" "${stem}.pb.h" "${stem}.grpc.pb.cc" "${stem}.grpc.pb.h"
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${PROJECT_SOURCE_DIR}/viridian/serve/monitor.proto
    DEPENDS "${folder}/monitor.proto"
    VERBATIM)
add_library(viridian_serve_messages STATIC "${stem}.pb.cc" "${stem}.grpc.pb.cc")
target_include_directories(viridian_serve_messages SYSTEM PUBLIC "${generated}")
target_link_libraries(viridian_serve_messages PUBLIC ${GRPCPP_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY}
                                                     ${ABSL_SYNCHRONIZATION_LIBRARY} protobuf::libprotobuf)
target_link_libraries(${target} PRIVATE viridian_serve_messages prometheus-cpp::core ${CIVETWEB_CPP_LIBRARY}
                                        ${CIVETWEB_LIBRARY} Threads::Threads)
target_compile_definitions(${target} PRIVATE VIRIDIAN_VERSION="${PROJECT_VERSION}")
