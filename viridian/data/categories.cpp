#include "viridian/data/categories.hpp"

#include <unordered_set>

#include "viridian/base/json.hpp"

namespace viridian::data {
namespace {

constexpr std::string_view categories_schema = "viridian.categories/1";

}  // namespace

std::string categories_text(const std::vector<std::string>& categories) {
    return json_dump(Json{{"schema", categories_schema}, {"categories", categories}}, 1) + "\n";
}

Result<std::vector<std::string>> parse_categories(std::string_view text, std::string_view name) {
    const auto bad = [&](std::string_view what) {
        return fail(ErrorCode::malformed, "give the file that was written beside the trained model",
                    "`{}` is not a list of categories: {}", name, what);
    };
    VIRIDIAN_TRY(const Json json, parse_json(text, name));
    if (!json.is_object() || json.value("schema", Json()) != categories_schema)
        return bad(fmt::format("its schema is not {}", categories_schema));
    const auto list = json.find("categories");
    if (list == json.end() || !list->is_array()) return bad("it has no array `categories`");
    std::vector<std::string> categories;
    std::unordered_set<std::string> seen;
    for (const Json& entry : *list) {
        if (!entry.is_string()) return bad("an entry is not a text");
        categories.push_back(entry.get<std::string>());
        if (!seen.insert(categories.back()).second)
            return bad(fmt::format("`{}` stands twice", categories.back()));
    }
    return categories;
}

}  // namespace viridian::data
