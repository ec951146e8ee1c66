#include "viridian/account/products/module_footprint.hpp"

#include <algorithm>
#include <map>

#include "viridian/account/products/footprint.hpp"

namespace viridian::account {
namespace {

constexpr std::string_view backward_node = "autograd::engine::evaluate_function: ";

std::string_view without_last(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// The modules of a result by their paths, "ResNet/layer4/1/conv2".
class ModuleTree {
  public:
    explicit ModuleTree(const Accounting& accounting) {
        for (const Module& module : accounting.modules) {
            modules_.emplace(module.name, &module);
            calls_[module.name] += module.calls + module.recomputed;
        }
        std::map<std::string_view, bool> models;  // outermost modules that hold others
        for (const auto& [path, module] : modules_)
            if (const std::string_view above = holder(without_last(path)); !above.empty()) {
                holds_[above] = true;
                std::string_view top = above;
                for (std::string_view next = holder(without_last(top)); !next.empty();
                     next = holder(without_last(top)))
                    top = next;
                models[top] = true;
            }
        if (models.size() == 1) only_model_ = models.begin()->first;
    }

    // The innermost module on `path`, empty if there is none.
    [[nodiscard]] std::string_view holder(std::string_view path) const {
        while (!path.empty() && modules_.find(path) == modules_.end()) path = without_last(path);
        return path;
    }
    // The module itself, or that above it which is at most `depth` names below the outermost one.
    [[nodiscard]] std::string_view at_depth(std::string_view path, std::size_t depth) const {
        while (below_model(path) > depth) path = holder(without_last(path));
        return path;
    }
    [[nodiscard]] std::size_t below_model(std::string_view path) const {
        std::size_t depth = 0;
        for (path = holder(without_last(path)); !path.empty(); path = holder(without_last(path))) ++depth;
        return depth;
    }
    [[nodiscard]] const Module& module(std::string_view path) const { return *modules_.find(path)->second; }
    // Calls of the module in all processes, recomputed ones included.
    [[nodiscard]] std::uint64_t calls(std::string_view path) const { return calls_.find(path)->second; }
    [[nodiscard]] bool holds_others(std::string_view path) const { return holds_.contains(path); }
    [[nodiscard]] std::string shown(std::string_view path) const {
        if (!only_model_.empty() && path.starts_with(only_model_) && path.size() > only_model_.size() &&
            path[only_model_.size()] == '/')
            path.remove_prefix(only_model_.size() + 1);
        std::string name(path);
        std::ranges::replace(name, '/', '.');
        return name;
    }

  private:
    std::map<std::string_view, const Module*> modules_;
    std::map<std::string_view, std::uint64_t> calls_;
    std::map<std::string_view, bool> holds_;
    std::string_view only_model_;
};

struct OpenRow : GroupRow {
    UpperEnds ends;
};

void add(OpenRow& row, const Operation& operation, const std::vector<std::string>& processes) {
    const Joules energy = operation.energy->value;
    row.by_process.resize(processes.size());
    if (const auto process = std::ranges::find(processes, operation.process); process != processes.end())
        row.by_process[static_cast<std::size_t>(process - processes.begin())] += energy;
    row.energy += energy;
    row.low += operation.energy->low;
    row.ends.add(operation);
    row.seconds += operation.seconds;
    PassJoules& passes = row.passes;
    (operation.pass == "forward"                                  ? passes.forward
     : operation.pass == "backward" || operation.pass == "weight" ? passes.backward
     : operation.pass == "recompute"                              ? passes.recompute
     : operation.pass == "update"                                 ? passes.optimizer
                                                                  : passes.unknown) += energy;
}

std::string outside(const Operation& operation) {
    return operation.pass == "update" ? "(optimizer)" : "(outside modules)";
}

std::string operator_name(const Operation& operation) {
    std::string_view name = operation.type;
    if (name.starts_with(backward_node)) name.remove_prefix(backward_node.size());
    return std::string(name);
}

std::vector<GroupRow> sorted_rows(std::map<std::string, OpenRow>&& rows, const Accounting& accounting) {
    std::vector<GroupRow> out;
    for (auto& [key, row] : rows) {
        row.high = row.ends.total(accounting);
        out.push_back(static_cast<GroupRow&&>(std::move(row)));
    }
    std::ranges::stable_sort(out, [](const GroupRow& a, const GroupRow& b) { return a.energy > b.energy; });
    return out;
}

}  // namespace

std::optional<GroupBy> group_by_from(std::string_view name) {
    if (name == "module") return GroupBy::module;
    if (name == "type") return GroupBy::type;
    if (name == "operator") return GroupBy::op;
    return std::nullopt;
}

std::vector<GroupRow> module_footprint(const Accounting& accounting, GroupBy by,
                                       std::optional<std::size_t> depth) {
    const ModuleTree tree(accounting);
    std::map<std::string, OpenRow> rows;
    for (const Operation& operation : accounting.operations) {
        if (!operation.energy) continue;
        const std::string_view inner =
            by == GroupBy::op ? std::string_view() : tree.holder(without_last(operation.name));
        if (inner.empty()) {
            const std::string name = by == GroupBy::op ? operator_name(operation) : outside(operation);
            OpenRow& row = rows[name];
            row.name = name;
            if (by == GroupBy::op) row.calls += operation.count;
            add(row, operation, accounting.processes);
            continue;
        }
        if (by == GroupBy::type) {
            OpenRow& row = rows[tree.module(inner).type];
            row.name = row.type = tree.module(inner).type;
            add(row, operation, accounting.processes);
            continue;
        }
        const std::string_view path = depth ? tree.at_depth(inner, *depth) : inner;
        OpenRow& row = rows[std::string(path)];
        row.name = tree.shown(path);
        row.type = tree.module(path).type;
        row.own = tree.holds_others(path) && (!depth || tree.below_model(path) < *depth);
        row.calls = tree.calls(path);
        add(row, operation, accounting.processes);
    }
    if (by == GroupBy::module)  // a layer without work of its own, as Identity, is a layer too
        for (const Module& module : accounting.modules) {
            if (tree.holds_others(module.name) ||
                (depth && tree.at_depth(module.name, *depth) != module.name))
                continue;
            OpenRow& row = rows[module.name];
            row.name = tree.shown(module.name);
            row.type = module.type;
            row.calls = tree.calls(module.name);
            row.by_process.resize(accounting.processes.size());
        }
    if (by == GroupBy::type)
        for (const Module& module : accounting.modules)
            if (const auto found = rows.find(module.type); found != rows.end())
                found->second.calls += module.calls + module.recomputed;
    return sorted_rows(std::move(rows), accounting);
}

}  // namespace viridian::account
