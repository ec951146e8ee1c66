find_package(Protobuf REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
target_compile_definitions(${target} PRIVATE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(${target} PRIVATE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)
target_include_directories(${target} PRIVATE "${folder}/..")

# ONNX's own backend tests, as a program (`make conformance`) and as tests.
file(GLOB conformance_sources CONFIGURE_DEPENDS "${folder}/conformance/*.cpp")
list(REMOVE_ITEM conformance_sources "${folder}/conformance/main.cpp")
add_library(conformance_cases STATIC ${conformance_sources})
target_include_directories(conformance_cases PUBLIC "${folder}")
target_link_libraries(conformance_cases PRIVATE viridian_warnings PUBLIC viridian_onnx viridian_execute viridian_prove)
foreach(program conformance/main tools/model_tool tools/operator_table)
    string(REGEX REPLACE "/main$|^tools/" "" name ${program})
    add_executable(${name} "${folder}/${program}.cpp")
    target_link_libraries(${name} PRIVATE viridian_warnings conformance_cases)
endforeach()
# Shapes and types against ONNX's own inference.
find_library(ONNX_LIBRARY onnx REQUIRED)
add_executable(shape_check "${folder}/tools/shape_check.cpp")
target_compile_definitions(shape_check PRIVATE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(shape_check PRIVATE viridian_warnings conformance_cases viridian_rewrite viridian_zoo ${ONNX_LIBRARY} ${ONNX_PROTO_LIBRARY}
                                          protobuf::libprotobuf)
add_test(NAME onnx.shapes COMMAND shape_check --least 2000 --least-inner 30 --zoo
                                  /usr/share/libonnx-testdata/data)
set(excluded --excluded "${folder}/conformance_excluded.txt")
add_test(NAME onnx.conformance.debian
         COMMAND conformance ${excluded} --least 990 /usr/share/libonnx-testdata/data)
# Alone, with the work divided among threads, and with every tensor between guard pages.
foreach(device cpu cpu:4-threads cpu:guarded)
    string(REPLACE ":" "_" name ${device})
    add_test(NAME onnx.conformance.${name}
             COMMAND conformance --device ${device} ${excluded} --least 990 --least-fast 400 /usr/share/libonnx-testdata/data)
    set_tests_properties(onnx.conformance.${name} PROPERTIES LABELS "onnx;release-only" TIMEOUT 900)
endforeach()
set(peer "${folder}/peers/run_peer_test")
add_test(NAME onnx.conformance.newest
         COMMAND "${peer}" "${folder}/peers/newest_conformance.py" $<TARGET_FILE:conformance> ${excluded} --least 1600
                 --skip light/light_[bivrdz]*)  # seconds each with plain loops; `make conformance` runs them
add_test(NAME onnx.conformance.newest_cpu
         COMMAND "${peer}" "${folder}/peers/newest_conformance.py" $<TARGET_FILE:conformance> ${excluded} --device cpu
                 --least 1600 --least-fast 400)
add_test(NAME onnx.conformance.newest_cpu_4-threads
         COMMAND "${peer}" "${folder}/peers/newest_conformance.py" $<TARGET_FILE:conformance> ${excluded} --device cpu:4-threads
                 --least 1600 --least-fast 400)
foreach(set debian newest)
    add_test(NAME onnx.export_runs_in_onnxruntime.${set}
             COMMAND "${peer}" "${folder}/peers/export_runs_in_onnxruntime.py" $<TARGET_FILE:model_tool> ${set})
endforeach()
add_test(NAME onnx.optimised_runs_in_onnxruntime
         COMMAND "${peer}" "${folder}/peers/optimised_runs_in_onnxruntime.py" $<TARGET_FILE:viridian>)
add_test(NAME onnx.step_runs_in_onnxruntime
         COMMAND "${peer}" "${folder}/peers/step_runs_in_onnxruntime.py" $<TARGET_FILE:model_tool>)
add_test(NAME onnx.accumulated_step_in_onnxruntime
         COMMAND "${peer}" "${folder}/peers/accumulated_step_in_onnxruntime.py" $<TARGET_FILE:viridian>)
add_test(NAME onnx.dropout_masks
         COMMAND "${peer}" "${folder}/peers/dropout_masks.py" $<TARGET_FILE:model_tool>)
add_test(NAME onnx.torch_models COMMAND /usr/bin/python3 "${folder}/torch_models.py" $<TARGET_FILE:model_tool>)
set_tests_properties(onnx.conformance.debian onnx.shapes onnx.torch_models PROPERTIES LABELS "onnx;release-only" TIMEOUT 900)
set_tests_properties(onnx.conformance.newest onnx.conformance.newest_cpu onnx.conformance.newest_cpu_4-threads onnx.export_runs_in_onnxruntime.debian onnx.export_runs_in_onnxruntime.newest
                     onnx.optimised_runs_in_onnxruntime onnx.step_runs_in_onnxruntime onnx.dropout_masks onnx.accumulated_step_in_onnxruntime
                     PROPERTIES LABELS "onnx;release-only;peers" TIMEOUT 900 SKIP_RETURN_CODE 77)
if(NOT VIRIDIAN_SANITIZE)
    add_test(NAME onnx.operator_table COMMAND "${folder}/check_operator_table" $<TARGET_FILE:operator_table>
                                              "${PROJECT_SOURCE_DIR}/docs/reference/operators.md")
    set_tests_properties(onnx.operator_table PROPERTIES LABELS onnx TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
