#include "viridian/cli/account.hpp"

#include <memory>

#include "viridian/cli/commands.hpp"

namespace viridian::cli {

Command account_command() {
    return {
        "account", "Joules per operation, layer and module, from anybody's trace and power log",
        "viridian account --trace trace.json.gz --power power.csv", [](CLI::App& app) {
            const auto chosen = std::make_shared<AccountAction>(define_account_run(app));
            app.require_subcommand(0, 1);
            const auto add = [&](const char* name, const char* summary, AccountAction (*define)(CLI::App&)) {
                CLI::App* sub = app.add_subcommand(name, summary);
                sub->fallthrough();  // --json
                sub->callback([chosen, action = define(*sub)] { *chosen = action; });
            };
            add("selftest", "Every sensor and method against known ground truth", define_account_selftest);
            add("diff", "Compares results: correlation, mean difference, what changed most",
                define_account_diff);
            return [chosen] { return (*chosen)(); };
        }};
}

Result<account::Accounting> load_accounting(const std::string& path) {
    VIRIDIAN_TRY(const std::string text, read_file(path));
    VIRIDIAN_TRY(const Json json, parse_json(text, path));
    return account::accounting_from_json(json, path);
}

}  // namespace viridian::cli
