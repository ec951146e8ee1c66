#include "viridian/train/loop/sizes.hpp"

namespace viridian::train {

Result<Runner> Sizes::ready(std::int64_t batch) {
    VIRIDIAN_TRY(graph::Graph graph, make_(batch));
    if (latest_ != nullptr)  // it has the states
        for (const graph::State& state : graph.states()) graph.set_first_value(state.before, graph::Tensor());
    VIRIDIAN_TRY(Ready made, prepare_(std::move(graph), runners_.empty() ? Runs::often : Runs::seldom));
    return Runner::make(std::move(made));
}

Result<Runner*> Sizes::at(std::int64_t batch) {
    auto found = runners_.find(batch);
    if (latest_ != nullptr && found != runners_.end() && latest_ == &found->second) return latest_;
    if (found == runners_.end()) {
        VIRIDIAN_TRY(Runner runner, ready(batch));
        found = runners_.emplace(batch, std::move(runner)).first;
    }
    if (latest_ != nullptr) {
        VIRIDIAN_TRY(found->second.share_states(*latest_));
        latest_->rest();
    }
    latest_ = &found->second;
    return latest_;
}

void Sizes::rest() {
    if (latest_ != nullptr) latest_->rest();
    latest_ = nullptr;
}

}  // namespace viridian::train
