#include "viridian/trace/join/label.hpp"

#include <deque>

namespace viridian::trace {
namespace {

constexpr std::size_t window = 8;
constexpr std::size_t batch_events = std::size_t{1} << 12;
constexpr std::size_t nowhere = ~std::size_t{0};

[[nodiscard]] bool accelerated(const Event& event) {
    return is_work(event.kind) && event.kind != Kind::operation;
}

class Labelled : public Source {
  public:
    Labelled(std::unique_ptr<Source> plain, Pattern pattern)
        : plain_(std::move(plain)), calls_(std::move(pattern.calls)), about_(std::move(pattern.about)) {
        about_.devices.clear();
        about_.lanes.clear();
        about_.edges.clear();
        about_.warnings.clear();
        about_.unowned = 0;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            std::uint64_t hash = 0;
            for (std::size_t k = 0; k < window; ++k) hash = mix(hash, calls_[(i + k) % calls_.size()].name);
            places_.emplace(hash, i);
        }
    }

    Result<std::span<const Event>> next() override {
        out_.clear();
        while (out_.size() < batch_events && !(ended_ && queue_.empty())) {
            if (!ended_ && ahead_ < window) {
                VIRIDIAN_TRY(pull());
                continue;
            }
            Event event = queue_.front();
            if (accelerated(event)) {
                label(event);
                --ahead_;
            }
            queue_.pop_front();
            out_.push_back(event);
        }
        if (out_.empty()) finish();
        return std::span<const Event>(out_);
    }
    const Trace& about() const override { return about_; }

  private:
    static std::uint64_t mix(std::uint64_t hash, NameId name) {
        return (hash ^ name) * 0x9E3779B97F4A7C15ULL ^ hash >> 29U;
    }
    // The next batch in our own numbering of names and paths.
    Result<void> pull() {
        VIRIDIAN_TRY(const std::span<const Event> batch, plain_->next());
        if (batch.empty()) {
            ended_ = true;
            return {};
        }
        const Trace& from = plain_->about();
        while (names_.size() < from.names.size())
            names_.push_back(about_.names.add(from.names[static_cast<NameId>(names_.size())]));
        while (paths_.size() < from.paths.size()) {
            const auto path = static_cast<PathId>(paths_.size());
            paths_.push_back(
                path == 0 ? 0
                          : about_.paths.add(paths_[from.paths.parent(path)], names_[from.paths.part(path)]));
        }
        about_.devices = from.devices;
        about_.lanes = from.lanes;
        for (Event event : batch) {
            event.name = names_[event.name];
            event.type = names_[event.type];
            event.path = paths_[event.path];
            event.scope = paths_[event.scope];
            if (accelerated(event)) ++ahead_;
            queue_.push_back(event);
        }
        return {};
    }
    // `event` is the front of the queue.
    void label(Event& event) {
        if (at_ == nowhere || at_ == calls_.size() || calls_[at_].name != event.name) at_ = place();
        if (at_ == nowhere) {
            ++unowned_;
            return;
        }
        const Pattern::Call& call = calls_[at_++];
        event.type = call.type;
        event.path = call.path;
        event.scope = call.scope;
        event.pass = call.pass;
    }
    // Where the next names of the queue stand in the pattern.
    [[nodiscard]] std::size_t place() const {
        std::uint64_t hash = 0;
        std::vector<NameId> names;
        for (auto event = queue_.begin(); event != queue_.end() && names.size() < window; ++event)
            if (accelerated(*event)) {
                names.push_back(event->name);
                hash = mix(hash, event->name);
            }
        if (names.size() < window) return nowhere;  // the tail, out of step
        const auto found = places_.find(hash);
        if (found == places_.end()) return nowhere;
        for (std::size_t k = 0; k < window; ++k)
            if (calls_[(found->second + k) % calls_.size()].name != names[k]) return nowhere;
        return found->second;
    }
    void finish() {
        const Trace& from = plain_->about();
        about_.take_origin(from);
        about_.events = from.events;
        about_.begin = from.begin;
        about_.end = from.end;
        about_.unowned = unowned_;
        about_.edges.clear();
        for (const Edge& edge : from.edges)
            about_.edges.push_back({paths_[edge.from], paths_[edge.to], edge.count});
    }

    std::unique_ptr<Source> plain_;
    std::vector<Pattern::Call> calls_;
    std::unordered_map<std::uint64_t, std::size_t> places_;  // of the names from there on; the first wins
    Trace about_;
    std::vector<NameId> names_;  // of `plain_`, here
    std::vector<PathId> paths_;
    std::deque<Event> queue_;
    std::vector<Event> out_;
    std::size_t ahead_ = 0;  // accelerator's work in the queue
    std::size_t at_ = nowhere;
    std::uint64_t unowned_ = 0;
    bool ended_ = false;
};

}  // namespace

Result<Pattern> pattern_of(Source& full) {
    Pattern pattern;
    bool known = false;
    for (;;) {
        VIRIDIAN_TRY(const std::span<const Event> batch, full.next());
        if (batch.empty()) break;
        for (const Event& event : batch)
            if (accelerated(event)) {
                pattern.calls.push_back({event.name, event.type, event.path, event.scope, event.pass});
                known = known || event.owner != 0;
            }
    }
    if (!known)
        return fail(ErrorCode::mismatch, "record a few steps with operators (docs/trace.md, \"Labels\")",
                    "no kernel of `{}` has an operator: there is nothing to label by", full.about().source);
    pattern.about = full.about();
    return pattern;
}

std::unique_ptr<Source> labelled(std::unique_ptr<Source> plain, Pattern pattern) {
    return std::make_unique<Labelled>(std::move(plain), std::move(pattern));
}

}  // namespace viridian::trace
