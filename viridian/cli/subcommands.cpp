#include "viridian/cli/subcommands.hpp"

#include <memory>

namespace viridian::cli {

Action choose(App app, const std::vector<Subcommand>& subcommands, Action otherwise) {
    app.require_subcommand(otherwise ? 0 : 1, 1);
    const auto chosen = std::make_shared<Action>(std::move(otherwise));
    for (const Subcommand& one : subcommands) {
        App sub = app.add_subcommand(one.name, one.summary);
        sub.fallthrough();  // --json
        if (!one.example.empty()) sub.footer("Example:\n  " + one.example);
        sub.callback([chosen, action = one.define(sub)] { *chosen = action; });
    }
    return [chosen] { return (*chosen)(); };
}

}  // namespace viridian::cli
