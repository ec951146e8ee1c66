#include "viridian/cli/account/account_footprint.hpp"

#include <algorithm>

#include "viridian/account/products/module_footprint.hpp"

namespace viridian::cli {
namespace {

struct PassColumn {
    const char* name;
    Joules account::PassJoules::* of;
};
constexpr std::array<PassColumn, 5> pass_columns = {{{"forward", &account::PassJoules::forward},
                                                     {"backward", &account::PassJoules::backward},
                                                     {"recompute", &account::PassJoules::recompute},
                                                     {"optimizer", &account::PassJoules::optimizer},
                                                     {"no pass", &account::PassJoules::unknown}}};

// More processes than this have no columns in the text.
constexpr std::size_t most_process_columns = 8;

Json group_rows_json(const std::vector<account::GroupRow>& rows, const std::vector<std::string>& processes) {
    Json out = Json::array();
    for (const account::GroupRow& row : rows) {
        out.push_back({{"name", row.name},
                       {"type", row.type},
                       {"itself", row.own},
                       {"calls", row.calls},
                       {"joules", row.energy.value},
                       {"low", row.low.value},
                       {"high", row.high.value},
                       {"seconds", row.seconds.value},
                       {"forward", row.passes.forward.value},
                       {"backward", row.passes.backward.value},
                       {"recompute", row.passes.recompute.value},
                       {"optimizer", row.passes.optimizer.value},
                       {"no_pass", row.passes.unknown.value}});
        for (std::size_t i = 0; i < processes.size(); ++i)
            out.back()["processes"].push_back({{"name", processes[i]}, {"joules", row.by_process[i].value}});
    }
    return out;
}

// Only the passes that used energy in some row have a column.
std::string group_table(const std::vector<account::GroupRow>& rows, account::GroupBy by, std::size_t top,
                        std::vector<std::string> processes) {
    if (processes.size() > most_process_columns) processes.clear();
    std::vector<PassColumn> columns;
    double total = 0.0;
    for (const PassColumn& column : pass_columns)
        if (std::ranges::any_of(rows, [&](const auto& row) { return (row.passes.*column.of).value > 0; }))
            columns.push_back(column);
    for (const account::GroupRow& row : rows) total += row.energy.value;
    std::string text = fmt::format("{:>10}  {:>23}  {:>7}", "joules", "[low, high]", "share");
    for (const PassColumn& column : columns) text += fmt::format("  {:>9}", column.name);
    for (const std::string& process : processes) text += fmt::format("  {:>9}", process);
    text += fmt::format("  {:>9}  {}\n", "calls",
                        by == account::GroupBy::module ? "module (class)"
                        : by == account::GroupBy::type ? "class"
                                                       : "operator");
    for (std::size_t i = 0; i < rows.size() && i < top; ++i) {
        const account::GroupRow& row = rows[i];
        text += fmt::format("{:>10.4g}  {:>23}  {:>5.1f} %", row.energy.value,
                            fmt::format("[{:.4g}, {:.4g}]", row.low.value, row.high.value),
                            total > 0.0 ? 100.0 * row.energy.value / total : 0.0);
        for (const PassColumn& column : columns)
            text += fmt::format("  {:>9.4g}", (row.passes.*column.of).value);
        for (std::size_t k = 0; k < processes.size(); ++k)
            text += fmt::format("  {:>{}.4g}", row.by_process[k].value,
                                std::max<std::size_t>(processes[k].size(), 9));
        text += fmt::format("  {:>9}  {}{}{}\n", row.calls, row.name,
                            by == account::GroupBy::module && !row.type.empty() && row.type != row.name
                                ? fmt::format(" ({})", row.type)
                                : "",
                            row.own ? ", itself" : "");
    }
    if (rows.size() > top) text += fmt::format("{:>10}  {} more rows (--top)\n", "", rows.size() - top);
    return text;
}

}  // namespace

void define_grouping(App app, Grouping& grouping) {
    app.add_option("--by", grouping.by, "Rows of the table (default: module, if the trace names modules)")
        .check(one_of({"module", "type", "operator", "name"}));
    app.add_option("--depth", grouping.depth,
                   "With --by module: a module so many modules below its model holds all that is in it")
        .check(in_range<std::int64_t>(0, 1'000));
}

Result<Answer> footprint_answer(const account::Accounting& result, const Grouping& grouping) {
    const bool modules = !result.modules.empty();
    const std::string name = !grouping.by.empty() ? grouping.by : modules ? "module" : "name";
    Answer answer;
    const auto by = account::group_by_from(name);
    if (!by) {
        answer.text = footprint_table(account::summarized_footprint(result), grouping.top);
        return answer;
    }
    if (!modules && *by != account::GroupBy::op)
        return fail(ErrorCode::missing_entry,
                    "record the program with `viridian record --torch`, or use --by operator",
                    "the trace `{}` names no modules", result.trace);
    std::optional<std::size_t> depth;
    if (grouping.depth && *by == account::GroupBy::module) depth = static_cast<std::size_t>(*grouping.depth);
    const std::vector<account::GroupRow> rows = account::module_footprint(result, *by, depth);
    answer.text = group_table(rows, *by, grouping.top, result.processes);
    answer.json = {{"by", name},
                   {"depth", depth ? Json(*depth) : Json()},
                   {"rows", group_rows_json(rows, result.processes)}};
    return answer;
}

std::string footprint_table(const std::vector<account::FootprintRow>& entries, std::size_t top) {
    std::string text =
        fmt::format("{:>10}  {:>23}  {:>9}  {:>9}  {}\n", "joules", "[low, high]", "watts", "count", "name");
    for (std::size_t i = 0; i < entries.size() && i < top; ++i)
        text += fmt::format("{:>10.4g}  {:>23}  {:>9.4g}  {:>9}  {}\n", entries[i].energy.value,
                            fmt::format("[{:.4g}, {:.4g}]", entries[i].low.value, entries[i].high.value),
                            entries[i].watts().value, entries[i].count, entries[i].name);
    return text;
}

}  // namespace viridian::cli
