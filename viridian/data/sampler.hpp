#pragma once
// Says which samples a step of training reads. The answer is a pure function of the options and of (step,
// micro-batch, replica): it needs no memory of what came before, so a resumed run, and every replica of a
// distributed one, know it without asking anybody.
#include <optional>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/data/permutation.hpp"

namespace viridian::data {

// A Subset is a part of a dataset's samples in some order.
class Subset {
  public:
    Subset() = default;
    // All samples from 0 to count - 1 in order.
    explicit Subset(std::int64_t count) : count_(count) {}
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t at(std::int64_t place) const {
        return order_ ? order_->at(first_ + place) : first_ + place;
    }

  private:
    friend class Splitter;
    std::optional<Permutation> order_;
    std::int64_t first_ = 0, count_ = 0;
};

// A Split divides a dataset into samples for training and samples for evaluation.
struct Split {
    Subset training, evaluation;
};
enum class SplitBy {
    seed,  // samples are drawn at random: for samples that do not depend on their neighbours
    tail,  // the last samples are for evaluation: for windows of a text and for time series
};
// `fraction` of the samples, rounded, are for evaluation: at least one, and not all. With a fraction of 0 all
// are for training. Errors: invalid_argument (fraction outside [0, 1)), malformed (fewer than two samples).
[[nodiscard]] Result<Split> split(std::int64_t samples, double fraction, SplitBy by, std::uint64_t seed);

struct SamplerOptions {
    Subset from;
    std::int64_t batch = 32;         // samples of a step, of all its micro-batches and replicas together
    std::int64_t micro_batches = 1;  // parts of a step that follow each other in one replica
    std::int64_t replicas = 1;       // copies of the model that train side by side
    std::uint64_t seed = 0;
    bool shuffle = true;     // a new order in every epoch, from (seed, epoch); false: the subset's order
    bool drop_last = false;  // leave out the last, smaller batch of an epoch
};

// A Draw holds the samples of one micro-batch of one replica in one step.
struct Draw {
    std::int64_t step = 0, epoch = 0;
    std::int64_t micro_batch = 0, replica = 0;
    // The number of the first sample, counted from the beginning of training through all epochs, whatever the
    // micro-batches and replicas: random numbers for a sample belong to its number.
    std::int64_t first = 0;
    std::vector<std::int64_t> samples;  // positions in the dataset
};

// Micro-batch m of replica r holds the places [(m R + r) s, (m R + r + 1) s) of the step's batch, for R
// replicas and s = batch / (micro-batches × R). The last batch of an epoch may be smaller: its last parts are
// then smaller or empty, and all others keep their size, so that there are at most two sizes in an epoch.
class Sampler {
  public:
    // Errors: invalid_argument (a batch that the parts do not divide, numbers below one, no samples).
    [[nodiscard]] static Result<Sampler> make(SamplerOptions options);

    [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_; }
    [[nodiscard]] std::int64_t samples_per_epoch() const { return used_; }
    [[nodiscard]] std::int64_t epoch_of(std::int64_t step) const { return step / steps_; }
    // Returns how many samples the step reads in all parts together.
    [[nodiscard]] std::int64_t samples_of(std::int64_t step) const;
    [[nodiscard]] Draw draw(std::int64_t step, std::int64_t micro_batch = 0, std::int64_t replica = 0) const;
    // Returns the samples of the step's whole batch, in the order of their places.
    [[nodiscard]] Draw whole(std::int64_t step) const;

  private:
    explicit Sampler(SamplerOptions options);
    [[nodiscard]] Draw places(std::int64_t step, std::int64_t begin, std::int64_t end) const;

    SamplerOptions options_;
    std::int64_t used_ = 0, steps_ = 0;
};

}  // namespace viridian::data
