# viridian_code_hash(RESULT FOLDER...): a hash of all sources below the folders. `//` comments and white space do not count,
# because they change nothing that a program does (inside strings they do; no kernel has such a string).
#
# As a script, `cmake -DFOLDERS="A;B" -DOUTPUT=version.cpp -P code_hash.cmake` writes the hash of A and B as the version of the
# CPU's kernels (viridian/execute/cpu/version.hpp).
function(viridian_code_hash result)
    set(code "")
    foreach(folder IN LISTS ARGN)
        file(GLOB_RECURSE sources "${folder}/*.cpp" "${folder}/*.hpp")  # sorted
        foreach(source IN LISTS sources)
            file(READ "${source}" text)
            string(REGEX REPLACE "//[^\n]*" "" text "${text}")
            string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
            string(APPEND code "${text}\n")
        endforeach()
    endforeach()
    string(SHA256 hash "${code}")
    string(SUBSTRING "${hash}" 0 12 hash)
    set(${result} "${hash}" PARENT_SCOPE)
endfunction()

if(DEFINED OUTPUT)
    viridian_code_hash(version ${FOLDERS})
    file(WRITE "${OUTPUT}" "#include \"viridian/execute/cpu/version.hpp\"\n\n"
                           "namespace viridian::execute::cpu {\n\n"
                           "std::string_view kernels_version() { return \"${version}\"; }\n\n"
                           "}  // namespace viridian::execute::cpu\n")
endif()
