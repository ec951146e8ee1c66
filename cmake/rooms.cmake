# The one table of who may include whom (docs/architecture.md, "Rooms"). Every room may also include `base`.
# `viridian_rooms` builds one target per line; `tools/check_layers` holds every #include against the same lines.
#
#    room      may include
set(VIRIDIAN_ROOMS
    "base     :"
    "graph    :"
    "meter    :"
    "trace    :"
    "data     : graph"
    "onnx     : graph data"
    "zoo      : graph"
    "rewrite  : graph"
    "gradient : graph rewrite"
    "movement : graph"
    "plan     : graph movement"
    "account  : meter trace"
    "serve    : meter"
    "cost     : graph plan"
    "execute  : graph plan trace"
    "prove    : graph data onnx plan execute"
    "profile  : graph plan execute meter cost"
    "search   : graph plan cost rewrite"
    "pipeline : graph plan cost"
    "optimize : graph onnx rewrite plan cost execute prove profile search trace"
    "session  : graph onnx rewrite plan cost execute prove profile search trace optimize"
    "train    : graph data rewrite gradient plan execute trace"
    "report   :"
    "api      : graph data meter trace onnx rewrite plan account cost execute prove profile search pipeline optimize session report"
    "cli      : base graph movement data meter trace onnx zoo rewrite gradient plan account cost execute prove profile search pipeline optimize session report serve train"
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
            add_library(${target} STATIC)
            set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
            target_link_libraries(${target} PRIVATE viridian_warnings)
            if(NOT EXISTS "${folder}/precompiled.hpp")
                viridian_precompile(${target})
            endif()
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
        if(scope STREQUAL "PUBLIC")
            viridian_batches(${room} ${sources})
            target_sources(${target} PRIVATE ${batches})
        endif()
    endforeach()
endfunction()

# Sets `batches` to files that include eight of the sources each, and to the sources with the property
# SKIP_UNITY_BUILD_INCLUSION, which those with flags of their own must have. CMake's UNITY_BUILD would write the names of the
# sources' folders into its batches, and a clone elsewhere would find nothing in ccache.
function(viridian_batches name)
    set(batches "")
    set(together "")
    foreach(source IN LISTS ARGN)
        get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
        if(alone OR NOT VIRIDIAN_UNITY)
            list(APPEND batches "${source}")
        else()
            list(APPEND together "${source}")
        endif()
    endforeach()
    set(number 0)
    while(together)
        set(text "")
        foreach(_ RANGE 1 8)
            list(POP_FRONT together source)
            if(source)
                cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
                string(APPEND text "#include \"${source}\"\n")
            endif()
        endforeach()
        set(batch "${PROJECT_BINARY_DIR}/generated/batches/${name}_${number}.cpp")
        file(CONFIGURE OUTPUT "${batch}" CONTENT "${text}" @ONLY)
        list(APPEND batches "${batch}")
        math(EXPR number "${number} + 1")
    endwhile()
    set(batches "${batches}" PARENT_SCOPE)
endfunction()

# fuzz/<name>_fuzz.cpp become one libFuzzer executable each (clang only: preset `asan`), with the kept corpus
# fuzz/corpus/<name>. The rooms that a target needs are on its first line: `// rooms: onnx graph`. Sources in fuzz/<name>
# belong to it, and fuzz/<name>/fuzz.cmake, which sees ${target}, may add vendor libraries.
function(viridian_fuzzers)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp" "${PROJECT_SOURCE_DIR}/fuzz/*/*_fuzz.cpp")
    add_custom_target(fuzzers)  # all of them, and only the rooms that they need
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        file(STRINGS "${source}" first LIMIT_COUNT 1)
        string(REGEX REPLACE "^// rooms: *" "" rooms "${first}")
        separate_arguments(rooms UNIX_COMMAND "${rooms}")
        string(REGEX REPLACE "_fuzz$" "" folder "${PROJECT_SOURCE_DIR}/fuzz/${name}")
        file(GLOB others CONFIGURE_DEPENDS "${folder}/*.cpp")
        set(target "${name}")
        add_executable(${target} "${source}" ${others})
        foreach(room IN LISTS rooms)
            target_link_libraries(${name} PRIVATE viridian_${room})
        endforeach()
        target_link_libraries(${name} PRIVATE viridian_warnings)
        include("${folder}/fuzz.cmake" OPTIONAL)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${name})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    endforeach()
endfunction()
