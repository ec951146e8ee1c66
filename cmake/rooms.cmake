# The one table of who may include whom (docs/architecture.md, "Rooms"). Every room may also include `base`.
# `viridian_rooms` builds one target per line; `tools/check_layers` holds every #include against the same lines.
#
#    room      may include
set(VIRIDIAN_ROOMS
    "base     :"
    "graph    :"
    "meter    :"
    "trace    :"
    "onnx     : graph"
    "zoo      : graph"
    "gradient : graph"
    "rewrite  : graph"
    "plan     : graph"
    "account  : meter trace"
    "serve    : meter"
    "cost     : graph plan"
    "execute  : graph plan trace"
    "profile  : graph plan execute meter cost"
    "search   : graph plan cost rewrite"
    "pipeline : graph plan cost"
    "train    : graph gradient plan execute meter trace pipeline"
    "report   :"
    "cli      : base graph meter trace onnx zoo gradient rewrite plan account cost execute profile search pipeline train report serve"
)

# A room's library holds every .cpp below its folder. A room may add vendor libraries, generated sources and
# flags in its own `room.cmake`, which sees ${target}.
function(viridian_rooms)
    file(GLOB _ CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/viridian/*/room.cmake")  # configure again when one appears
    foreach(line IN LISTS VIRIDIAN_ROOMS)
        string(REGEX MATCH "^([a-z]+) *: *(.*)$" _ "${line}")
        set(room "${CMAKE_MATCH_1}")
        separate_arguments(edges UNIX_COMMAND "${CMAKE_MATCH_2}")
        set(folder "${PROJECT_SOURCE_DIR}/viridian/${room}")
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
        list(REMOVE_ITEM sources "${folder}/main.cpp")
        if(sources OR EXISTS "${folder}/room.cmake")
            set(target viridian_${room})
            set(scope PUBLIC)
            add_library(${target} STATIC ${sources})
            set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
            target_link_libraries(${target} PRIVATE viridian_warnings)
        else()
            set(target viridian_${room})
            set(scope INTERFACE)
            add_library(${target} INTERFACE)
        endif()
        target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
        if(NOT room STREQUAL "base")
            target_link_libraries(${target} ${scope} viridian_base)
        endif()
        foreach(edge IN LISTS edges)
            target_link_libraries(${target} ${scope} viridian_${edge})
        endforeach()
        if(EXISTS "${folder}/room.cmake")
            include("${folder}/room.cmake")
        endif()
    endforeach()
endfunction()

# tests/<room>/*_test.cpp become one executable per room, every TEST a ctest entry labelled with the room.
function(viridian_tests)
    file(GLOB rooms CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/tests/*")
    foreach(room IN LISTS rooms)
        set(folder "${PROJECT_SOURCE_DIR}/tests/${room}")
        file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
        if(sources)
            set(target viridian_${room}_tests)
            add_executable(${target} ${sources})
            target_link_libraries(${target} PRIVATE viridian_warnings viridian_${room} GTest::gmock_main)
            if(EXISTS "${folder}/tests.cmake")
                include("${folder}/tests.cmake")
            endif()
            gtest_discover_tests(${target} TEST_PREFIX "${room}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                                 PROPERTIES LABELS "${room}" TIMEOUT 300)
        elseif(EXISTS "${folder}/tests.cmake")
            include("${folder}/tests.cmake")
        endif()
    endforeach()
endfunction()

# fuzz/<name>_fuzz.cpp become one libFuzzer executable each (clang only: preset `fuzz`), with the kept corpus
# fuzz/corpus/<name>. The rooms that a target needs are on its first line: `// rooms: onnx graph`.
function(viridian_fuzzers)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
    add_custom_target(fuzzers)  # all of them, and only the rooms that they need
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        file(STRINGS "${source}" first LIMIT_COUNT 1)
        string(REGEX REPLACE "^// rooms: *" "" rooms "${first}")
        separate_arguments(rooms UNIX_COMMAND "${rooms}")
        add_executable(${name} "${source}")
        foreach(room IN LISTS rooms)
            target_link_libraries(${name} PRIVATE viridian_${room})
        endforeach()
        target_link_libraries(${name} PRIVATE viridian_warnings)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${name})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    endforeach()
endfunction()

# benchmarks/<name>.cpp and benchmarks/<name>/main.cpp (with what lies beside it) become one executable each,
# built when asked for by name, and all as `benchmarks`, so that tests see them still compile. Rooms as for fuzzers.
function(viridian_benchmarks)
    add_custom_target(benchmarks)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/benchmarks/*.cpp" "${PROJECT_SOURCE_DIR}/benchmarks/*/main.cpp")
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        set(others "")
        if(name STREQUAL "main")
            get_filename_component(folder "${source}" DIRECTORY)
            get_filename_component(name "${folder}" NAME)
            file(GLOB others CONFIGURE_DEPENDS "${folder}/*.cpp")
            list(REMOVE_ITEM others "${source}")
        endif()
        file(STRINGS "${source}" first LIMIT_COUNT 1)
        string(REGEX REPLACE "^// rooms: *" "" rooms "${first}")
        separate_arguments(rooms UNIX_COMMAND "${rooms}")
        add_executable(${name} EXCLUDE_FROM_ALL "${source}" ${others})
        add_dependencies(benchmarks ${name})
        foreach(room IN LISTS rooms)
            target_link_libraries(${name} PRIVATE viridian_${room})
        endforeach()
        target_link_libraries(${name} PRIVATE viridian_warnings)
    endforeach()
endfunction()
