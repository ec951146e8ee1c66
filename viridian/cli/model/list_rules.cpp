// `optimize --list-rules`: every rewrite rule with its equation, guards and source, in the order of trying.
// docs/rules.md is this text; a test compares them.
#include "viridian/cli/model/search_options.hpp"

#include "viridian/base/json.hpp"

namespace viridian::cli {

Answer list_rules() {
    Json list = Json::array();
    std::string text =
        "# Rewrite rules\n\n"
        "Written by `viridian optimize --list-rules`. Rules that always pay are applied until nothing "
        "changes; "
        "alternatives are\ntried by the outer search, those of the whole network after it. Each is tested on "
        "random graphs that it matches "
        "(docs/rewrite.md).\n";
    const std::tuple<rewrite::Kind, const char*, const char*> kinds[] = {
        {rewrite::Kind::always, "always", "Always"},
        {rewrite::Kind::alternative, "alternative", "Alternatives"},
        {rewrite::Kind::whole, "whole", "Of the whole network"}};
    for (const auto& [kind, name, title] : kinds) {
        text += fmt::format("\n## {}\n", title);
        for (const rewrite::Rule& rule : rewrite::rules()) {
            if (rule.kind != kind) continue;
            list.push_back({{"name", rule.name},
                            {"kind", name},
                            {"equation", rule.equation},
                            {"guards", rule.guards},
                            {"source", rule.source},
                            {"polynomial", rule.polynomial}});
            text += fmt::format(
                "\n### {}\n{}\n\n- guards: {}\n- source: {}\n- certified: in double precision{}\n", rule.name,
                rule.equation, rule.guards, rule.source,
                rule.polynomial ? ", and exactly over a prime field" : "");
        }
    }
    return {{{"schema", "viridian.rules/1"}, {"rules", std::move(list)}}, std::move(text)};
}

}  // namespace viridian::cli
