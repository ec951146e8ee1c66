#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "viridian/account/products/epochs.hpp"
#include "viridian/account/products/footprint.hpp"

namespace viridian::account {
namespace {

std::string without_number(std::string_view name) {
    std::size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
    if (end == name.size() || end == 0) return std::string(name);
    while (end > 1 && (name[end - 1] == '#' || name[end - 1] == '_' || name[end - 1] == ' ')) --end;
    return std::string(name.substr(0, end));
}

// How well the events of a name bound something; lower is better.
enum class BoundRank : std::uint8_t { wanted, epoch, profiler_step, optimizer_step, mark, none };

bool names_an_epoch(std::string_view name) {
    static constexpr std::string_view epoch = "epoch";
    return std::search(name.begin(), name.end(), epoch.begin(), epoch.end(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
           }) != name.end();
}

BoundRank rank_of(std::string_view name, trace::Kind kind) {
    if (kind != trace::Kind::scope) return BoundRank::none;
    if (name.starts_with("ProfilerStep")) return BoundRank::profiler_step;
    if (name.starts_with("Optimizer.step#")) return BoundRank::optimizer_step;
    if (name.find('#') != std::string_view::npos) return BoundRank::none;  // a framework's own
    return names_an_epoch(name) ? BoundRank::epoch : BoundRank::mark;
}

struct OutlineCandidate {
    std::vector<Epoch> epochs;
    Nanoseconds length = 0;
    BoundRank rank = BoundRank::none;
    bool overlap = false;

    void add(const trace::Event& event) {
        if (!epochs.empty() && event.start < epochs.back().end) {
            overlap = overlap || event.end > epochs.back().end;
            return;  // nested in one of its own, or in several lanes at once
        }
        epochs.push_back({event.start, event.end});
        length += event.end - event.start;
    }
    [[nodiscard]] bool bounds_something() const {
        const bool enough = epochs.size() > 1 || rank == BoundRank::wanted;
        return rank != BoundRank::none && enough && !overlap;
    }
    [[nodiscard]] bool better_than(const OutlineCandidate& other) const {
        return rank != other.rank ? rank < other.rank : length > other.length;
    }
};

// From the end of one optimizer's step to the end of the next: the inside of the optimizer is not a step.
std::vector<Epoch> between_ends(const std::vector<Epoch>& inside) {
    std::vector<Epoch> out;
    for (std::size_t i = 1; i < inside.size(); ++i) out.push_back({inside[i - 1].end, inside[i].end});
    return out;
}

// Collects the events that may bound epochs or steps, by name without number.
class BoundFinder {
  public:
    explicit BoundFinder(std::string_view wanted) : wanted_(wanted) {}

    void add(const trace::Event& event, const trace::Trace& about) {
        const bool names = event.kind == trace::Kind::scope || event.kind == trace::Kind::module;
        if (event.end <= event.start || (!names && !(trace::is_work(event.kind) && !wanted_.empty()))) return;
        auto found = group_of_.find(event.name);
        if (found == group_of_.end()) {
            if (group_of_.size() > 1'000'000) return;
            found = group_of_.emplace(event.name, &group(event, about)).first;
        }
        if (found->second->rank != BoundRank::none) found->second->add(event);
    }
    // The best of them, in `out`.
    void finish(Outline& out) const {
        const OutlineCandidate* best = nullptr;
        for (const auto& [name, one] : candidates_)
            if (one.bounds_something() && (best == nullptr || one.better_than(*best)))
                best = &one, out.bounds = name;
        if (best == nullptr) return;
        const bool optimizer = out.bounds.starts_with("Optimizer.step#");
        out.epochs = optimizer ? between_ends(best->epochs) : best->epochs;
        out.period = best->rank > BoundRank::epoch || optimizer ? Period::step : Period::epoch;
    }

  private:
    OutlineCandidate& group(const trace::Event& event, const trace::Trace& about) {
        const std::string_view name = about.names[event.name];
        const std::string plain = without_number(name);
        const bool scope = !trace::is_work(event.kind);
        OutlineCandidate& one = candidates_[plain];
        if (wanted_.empty())
            one.rank = std::min(one.rank, rank_of(name, event.kind));
        else if (name == wanted_ || (scope && (about.names[event.type] == wanted_ || plain == wanted_)))
            one.rank = BoundRank::wanted;
        return one;
    }
    std::string_view wanted_;
    std::map<std::string, OutlineCandidate> candidates_;
    std::map<trace::NameId, OutlineCandidate*> group_of_;
};

// The block that repeats and ran longest.
void find_block(const std::map<std::string, Nanoseconds>& time_of, Outline& out) {
    std::vector<std::string> names;
    for (const auto& [name, time] : time_of) names.push_back(name);
    const Fold fold(names);
    struct Group {
        Nanoseconds time = 0;
        std::map<std::uint64_t, std::string> members;  // by number
    };
    std::map<std::string, Group> groups;
    for (const auto& [name, time] : time_of) {
        const std::string folded = fold(name);
        std::size_t at = 0, folded_at = 0;
        while (at < name.size()) {  // the outermost part that was folded
            const std::size_t end = std::min(name.find('/', at), name.size());
            const std::size_t folded_end = std::min(folded.find('/', folded_at), folded.size());
            const std::string_view part(name.data() + at, end - at);
            if (part != std::string_view(folded).substr(folded_at, folded_end - folded_at)) {
                const std::size_t digits = part.find_last_not_of("0123456789") + 1;
                std::uint64_t number = 0;
                std::from_chars(part.data() + digits, part.data() + part.size(), number);
                Group& group = groups[name.substr(0, at) + std::string(part.substr(0, digits)) + "*"];
                group.time += time;
                group.members.emplace(number, name.substr(0, end));
                break;
            }
            at = end + 1;
            folded_at = folded_end + 1;
        }
    }
    const auto longest = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return a.second.time < b.second.time;
    });
    if (longest == groups.end()) return;
    out.block = longest->first;
    out.first = longest->second.members.begin()->second;
}

}  // namespace

std::string_view name_of(Period period) { return period == Period::epoch ? "epoch" : "step"; }

Result<Outline> outline(trace::Source& source, std::string_view wanted) {
    BoundFinder bounds(wanted);
    std::vector<Nanoseconds> time_of_path;
    for (;;) {
        VIRIDIAN_TRY(const std::span<const trace::Event> batch, source.next());
        if (batch.empty()) break;
        for (const trace::Event& event : batch) {
            bounds.add(event, source.about());
            if (!trace::is_work(event.kind)) continue;
            if (event.path >= time_of_path.size()) time_of_path.resize(std::size_t{event.path} + 1);
            time_of_path[event.path] += event.end - event.start;
        }
    }
    Outline out;
    bounds.finish(out);
    std::map<std::string, Nanoseconds> names;
    for (std::size_t path = 1; path < time_of_path.size(); ++path)
        if (time_of_path[path] > 0)
            names[source.about().qualified(static_cast<trace::PathId>(path))] += time_of_path[path];
    find_block(names, out);
    return out;
}

Result<std::vector<Epoch>> parse_epochs(std::string_view text, std::string_view name) {
    std::vector<Epoch> out;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (!row.empty() && (row.back() == '\r' || row.back() == ' ')) row.remove_suffix(1);
        if (row.empty() || row.front() == '#' || row == "begin_ns,end_ns") continue;
        Epoch epoch;
        const char* const stop = row.data() + row.size();
        const auto first = std::from_chars(row.data(), stop, epoch.begin);
        const bool comma = first.ec == std::errc() && first.ptr != stop && *first.ptr == ',';
        const auto second = comma ? std::from_chars(first.ptr + 1, stop, epoch.end) : first;
        if (!comma || second.ec != std::errc() || second.ptr != stop || epoch.end <= epoch.begin ||
            (!out.empty() && epoch.begin < out.back().end))
            return fail(ErrorCode::malformed,
                        "write `begin_ns,end_ns` lines, Unix time in nanoseconds, in order",
                        "`{}` is not a list of epochs: line {}", name, line);
        out.push_back(epoch);
    }
    return out;
}

}  // namespace viridian::account
