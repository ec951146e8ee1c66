#include "viridian/base/json.hpp"

#include <algorithm>

namespace viridian {
namespace {

constexpr int max_depth = 512;

// The deepest nesting outside strings. The parser itself recurses when values are destroyed, so depth is
// checked first.
int nesting(std::string_view text) {
    int depth = 0;
    int deepest = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return deepest;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view name) {
    if (nesting(text) > max_depth)
        return fail(ErrorCode::limit_exceeded, "check how the file was made",
                    "`{}` nests deeper than {} levels", name, max_depth);
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        const auto line = 1 + std::count(text.begin(), end, '\n');
        const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n');
        return fail(ErrorCode::malformed, "check that the file is complete",
                    "`{}` is not JSON at line {}, column {}", name, line, end - start.base());
    } catch (const Json::exception&) {
        return fail(ErrorCode::malformed, "check that the file is complete", "`{}` is not JSON", name);
    }
}

std::string json_dump(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace viridian
