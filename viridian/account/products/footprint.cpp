#include "viridian/account/products/footprint.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace viridian::account {
namespace {

std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts;
    while (!name.empty()) {
        const std::size_t slash = name.find('/');
        if (slash != 0) parts.emplace_back(name.substr(0, slash));
        name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
    }
    return parts;
}

// "layer_12" -> "layer_*"; empty where there is no number at the end.
std::string pattern_of(const std::string& part) {
    std::size_t digits = part.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(part[digits - 1])) != 0) --digits;
    return digits == part.size() ? "" : part.substr(0, digits) + "*";
}

struct Node {
    std::map<std::string, Node> children;
};

void collect(const Node& node, const std::string& prefix, std::set<std::string>& names) {
    for (const auto& [part, child] : node.children) {
        names.insert(prefix + part);
        collect(child, prefix + part + "/", names);
    }
}

void merge(Node& into, const Node& from) {
    for (const auto& [part, child] : from.children) merge(into.children[part], child);
}

bool alike(const Node& a, const Node& b) {
    std::set<std::string> mine, theirs;
    collect(a, "", mine);
    collect(b, "", theirs);
    const auto shared = static_cast<std::size_t>(std::count_if(
        mine.begin(), mine.end(), [&](const std::string& name) { return theirs.count(name) > 0; }));
    return 2 * shared >= std::max(mine.size(), theirs.size());
}

// Folds the children of `node`, then theirs; records what each part became under its folded parent.
void fold(const Node& node, const std::string& path,
          std::vector<std::pair<std::string, std::string>>& renamed) {
    std::map<std::string, std::vector<std::string>> groups;
    for (const auto& [part, child] : node.children)
        if (const std::string pattern = pattern_of(part); !pattern.empty() && !child.children.empty())
            groups[pattern].push_back(part);
    Node folded;
    for (const auto& [part, child] : node.children) {
        const std::string pattern = child.children.empty() ? "" : pattern_of(part);
        std::string name = part;
        if (!pattern.empty() && groups[pattern].size() > 1) {
            const auto& group = groups[pattern];
            const bool repeats = std::any_of(group.begin(), group.end(), [&](const std::string& other) {
                return other != part && alike(child, node.children.at(other));
            });
            if (repeats) name = pattern == "layer_*" ? "transformer" : pattern;
        }
        if (name != part) renamed.emplace_back(path + part, name);
        merge(folded.children[name], child);
    }
    for (const auto& [name, child] : folded.children) fold(child, path + name + "/", renamed);
}

// The operations by the name that `name_of` gives them, largest energy first.
template <class NameOf>
std::vector<FootprintRow> footprint(const Accounting& accounting, const NameOf& name_of) {
    std::map<std::string, std::pair<FootprintRow, UpperEnds>> entries;
    for (const Operation& operation : accounting.operations) {
        if (!operation.energy) continue;
        auto& [entry, ends] = entries[name_of(operation)];
        entry.energy += operation.energy->value;
        entry.low += operation.energy->low;
        ends.add(operation);
        entry.seconds += operation.seconds;
        entry.count += operation.count;
    }
    std::vector<FootprintRow> out;
    for (auto& [name, made] : entries) {
        auto& [entry, ends] = made;
        entry.name = name;
        entry.high = ends.total(accounting);
        out.push_back(std::move(entry));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const FootprintRow& a, const FootprintRow& b) { return a.energy > b.energy; });
    return out;
}

}  // namespace

void UpperEnds::add(const Operation& operation) { by_device_[operation.device] += operation.energy->high; }

Joules UpperEnds::total(const Accounting& accounting) const {
    Joules sum;
    for (const auto& [name, high] : by_device_) {
        const auto device = std::ranges::find(accounting.devices, name, &Device::name);
        sum += device == accounting.devices.end() ? high : std::min(high, device->meter_total.high);
    }
    return sum;
}

std::string tensor_name(const Operation& operation) {
    const bool moved = operation.pass == "backward" && !operation.name.starts_with("gradient");
    return moved ? "gradient/" + operation.name : operation.name;
}

std::vector<FootprintRow> tensor_footprint(const Accounting& accounting) {
    return footprint(accounting, tensor_name);
}

Fold::Fold(const std::vector<std::string>& names) {
    Node root;
    for (const std::string& name : names) {
        Node* at = &root;
        for (const std::string& part : parts_of(name)) at = &at->children[part];
    }
    fold(root, "", renamed_);
    std::sort(renamed_.begin(), renamed_.end());
}

std::string Fold::operator()(const std::string& name) const {
    std::string out;
    for (const std::string& part : parts_of(name)) {
        const std::string key = out + part;
        const auto found =
            std::lower_bound(renamed_.begin(), renamed_.end(), key,
                             [](const auto& entry, const std::string& want) { return entry.first < want; });
        out += (found != renamed_.end() && found->first == key ? found->second : part) + "/";
    }
    if (!out.empty()) out.pop_back();
    return out;
}

std::vector<FootprintRow> summarized_footprint(const Accounting& accounting) {
    std::set<std::string> names;
    for (const Operation& operation : accounting.operations)
        if (operation.energy) names.insert(tensor_name(operation));
    const Fold fold({names.begin(), names.end()});
    return footprint(accounting, [&](const Operation& operation) { return fold(tensor_name(operation)); });
}

std::vector<Box> diagram(const Accounting& accounting, std::string_view pass) {
    std::map<std::string, Box> boxes;
    double total = 0.0;
    for (const Operation& operation : accounting.operations) {
        if (!operation.energy || (!pass.empty() && operation.pass != pass)) continue;
        total += operation.energy->value.value;
        std::string name;
        const std::vector<std::string> parts = parts_of(operation.name);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::string parent = name;
            name += (name.empty() ? "" : "/") + parts[i];
            Box& box = boxes[name];
            box.name = name;
            box.label = parts[i];
            box.parent = parent;
            box.energy += operation.energy->value;
            if (operation.pass == "forward") box.forward += operation.energy->value;
            if (operation.pass == "backward" || operation.pass == "weight")
                box.backward += operation.energy->value;
            box.composite = box.composite || i + 1 < parts.size();
        }
    }
    std::vector<Box> out;
    for (auto& [name, box] : boxes) {
        const double whole = box.parent.empty() ? total : boxes.at(box.parent).energy.value;
        box.share = whole > 0.0 ? box.energy.value / whole : 0.0;
        out.push_back(box);
    }
    return out;
}

Passes by_pass(const Accounting& accounting) {
    Passes out;
    for (const Operation& operation : accounting.operations) {
        if (!operation.energy) continue;
        Joules& sum = operation.pass == "forward"                                  ? out.forward
                      : operation.pass == "backward" || operation.pass == "weight" ? out.backward
                      : operation.pass == "recompute"                              ? out.recompute
                      : operation.pass == "update"                                 ? out.optimizer
                                                                                   : out.unknown;
        sum += operation.energy->value;
    }
    return out;
}

}  // namespace viridian::account
