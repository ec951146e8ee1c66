#include "viridian/train/loop/sizes.hpp"

namespace viridian::train {

Result<Runner*> Sizes::at(std::int64_t batch) {
    auto found = runners_.find(batch);
    if (latest_ != nullptr && found != runners_.end() && latest_ == &found->second) return latest_;
    std::optional<std::map<std::string, graph::Tensor>> states;
    if (latest_ != nullptr) {
        VIRIDIAN_TRY(states, latest_->states());
        rest();  // so that two sizes never have memory at once
    }
    if (found == runners_.end()) {
        VIRIDIAN_TRY(Ready ready, make_(batch));
        VIRIDIAN_TRY(Runner runner, Runner::make(std::move(ready)));
        found = runners_.emplace(batch, std::move(runner)).first;
    }
    if (states) VIRIDIAN_TRY(found->second.set_states(*states));
    latest_ = &found->second;
    return latest_;
}

void Sizes::rest() {
    if (latest_ != nullptr) latest_->rest();
    latest_ = nullptr;
}

}  // namespace viridian::train
