#include "viridian/account/products/flows.hpp"

#include <map>
#include <set>
#include <unordered_map>

namespace viridian::account {
namespace {

// Parts apart by '/', and by '.' as well where asked; joined by '/'.
std::string plain(std::string_view name, bool dots) {
    std::string out;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find_first_of(dots ? "/." : "/", at), name.size());
        if (end > at) out += (out.empty() ? "" : "/") + std::string(name.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

class Known {
  public:
    explicit Known(const Accounting& accounting) {
        for (const Operation& operation : accounting.operations) {
            const std::string name = plain(operation.name, false);
            for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
                by_dotless_.emplace(plain(name.substr(0, end), true), name.substr(0, end));
                if (end == std::string::npos) break;
            }
        }
    }
    // The trace's name of a node, or of the innermost layer around it that the trace knows; "" for none.
    [[nodiscard]] std::string of(const std::string& node) const {
        std::string name = plain(node, true);
        for (;;) {
            const auto found = by_dotless_.find(name);
            if (found != by_dotless_.end()) return found->second;
            const std::size_t slash = name.rfind('/');
            if (slash == std::string::npos) return "";
            name.resize(slash);
        }
    }

  private:
    std::unordered_map<std::string, std::string> by_dotless_;
};

}  // namespace

std::vector<Flow> match_flows(const std::vector<Flow>& flows, const Accounting& accounting) {
    const Known known(accounting);
    std::unordered_map<std::string, std::size_t> ids;
    std::vector<std::string> names;  // by node: the trace's
    std::vector<std::vector<std::size_t>> readers;
    const auto node = [&](const std::string& name) {
        const auto [found, fresh] = ids.try_emplace(name, names.size());
        if (fresh) {
            names.push_back(known.of(name));
            readers.emplace_back();
        }
        return found->second;
    };
    for (const Flow& flow : flows) {
        const std::size_t from = node(flow.from), to = node(flow.to);
        readers[from].push_back(to);
    }
    std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
    std::vector<std::size_t> seen(names.size(), SIZE_MAX), open;
    for (std::size_t from = 0; from < names.size(); ++from) {
        if (names[from].empty()) continue;
        open = readers[from];
        while (!open.empty()) {  // through what the trace does not know
            const std::size_t to = open.back();
            open.pop_back();
            if (seen[to] == from) continue;
            seen[to] = from;
            if (names[to].empty())
                open.insert(open.end(), readers[to].begin(), readers[to].end());
            else if (names[to] != names[from])
                ++counts[{names[from], names[to]}];
        }
    }
    std::vector<Flow> out;
    for (const auto& [ends, count] : counts) out.push_back({ends.first, ends.second, count});
    return out;
}

}  // namespace viridian::account
