# cmake -D OUTPUT=x.cpp -D FILES="a;b" -P embed.cmake: the files' text as `asset(name)` (viridian/report/assets.hpp).
set(code "#include \"viridian/report/assets.hpp\"\n\nnamespace viridian::report {\n\n")
string(APPEND code "std::string_view asset(std::string_view name) {\n")
foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
    # Pieces keep each literal short of compilers' limits.
    string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)" "\"\\1\"" bytes "${bytes}")
    string(APPEND code "    if (name == \"${name}\") {\n        static constexpr char text[] = ${bytes};\n        return {text, sizeof text - 1};\n    }\n")
endforeach()
string(APPEND code "    return {};\n}\n\n}  // namespace viridian::report\n")
file(WRITE "${OUTPUT}" "${code}")
