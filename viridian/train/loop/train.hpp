#pragma once
// Trains a network: reads samples, runs the training step, evaluates, keeps checkpoints.
#include <algorithm>
#include <functional>
#include <memory>

#include "viridian/base/listener.hpp"
#include "viridian/data/batches.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/train/checkpoint/folder.hpp"
#include "viridian/train/early_stop.hpp"
#include "viridian/train/log/step_record.hpp"
#include "viridian/train/loop/watch.hpp"
#include "viridian/train/rate_finder.hpp"
#include "viridian/train/schedule/schedule.hpp"

namespace viridian::train {

// A Ready graph can run. `graph` is the one that the executable computes: it may be simplified.
struct Ready {
    graph::Graph graph;
    std::shared_ptr<execute::Executable> executable;
    bool winograd = false;   // prove::uses_winograd() of its plan
    Seconds predicted = {};  // of a run, by the prices that chose its kernels
};

// How often a graph will run: in most steps or samples, or for the last batch of an epoch and to find a
// fault.
enum class Runs : std::uint8_t { often, seldom };

// A Task is what is trained, on what, and where.
struct Task {
    // Returns the network for batches of this size. The first axis of each input is the batch.
    std::function<Result<graph::Graph>(std::int64_t batch)> network;
    // The network takes no other batch than RunOptions::batch. The last, smaller batch of an epoch is then
    // left out, and that of an evaluation is filled up with samples that do not count.
    bool fixed_batch = false;
    std::function<Result<Ready>(graph::Graph graph, Runs runs)> prepare;
    data::Dataset samples;
    data::Subset training, evaluation;  // of the samples, unless evaluation has a dataset of its own
    std::optional<data::Dataset> evaluation_samples;

    // Returns the batch of the training steps if `asked` is wanted: not more than there are samples, unless
    // the batch is fixed.
    [[nodiscard]] std::int64_t batch(std::int64_t asked) const {
        return fixed_batch ? asked : std::min(asked, training.count());
    }
};

// Returns the inputs of a training step that the data gives: all except those that a step adds for itself.
[[nodiscard]] std::vector<data::ModelInput> data_inputs(const graph::Graph& step);

// CheckpointOptions say where a run keeps what it needs in order to go on.
struct CheckpointOptions {
    Path folder;
    Keep keep;
    std::int64_t every = 0;  // steps between two; 0: after every epoch
    bool resume = false;     // go on from the newest one, if there is one
    // The samples of the run, which a resumed run must read too; with `changed_data` their values may differ.
    std::vector<ColumnPrint> data = {};
    bool changed_data = false;
};

// RunOptions say how a run trains and evaluates.
struct RunOptions {
    gradient::StepOptions step;
    // If true, `step.stacking` is ignored, and the run takes the stacking with the least predicted time.
    bool choose_stacking = false;
    data::BatchOptions batches;
    double rate = 1e-3;
    Schedule schedule;
    std::int64_t epochs = 1;
    std::int64_t batch = 32;
    // A step reads so many batches one after the other and adds up their gradients (micro-batches).
    std::int64_t accumulate = 1;
    std::uint64_t seed = 0;
    bool shuffle = true;
    std::vector<std::string> metrics;  // of evaluations: "top-1"
    // Ends the run when the first metric no longer improves.
    std::optional<EarlyStop> early_stop;
    // The decay of a moving average of weights and statistics (moving_average.hpp). With it, the averages are
    // what evaluations judge and what the run leaves behind.
    std::optional<double> average_decay;
    // The run leaves behind the weights that the best evaluation judged, by the first metric, instead of the
    // last ones. The earliest of equally good ones counts.
    bool keep_best = false;
    std::optional<CheckpointOptions> checkpoints;
    Watch* watch = nullptr;                      // looks on; may be null
    std::map<std::string, std::string> written;  // the options as typed, which a resumed run must repeat
};

// An EpochRecord says how one training epoch went.
struct EpochRecord {
    std::int64_t epoch = 0;  // from 1
    std::int64_t step = 0;   // finished steps at its end
    double loss = 0;         // mean over the samples, each with the weights that its training step read
    Seconds seconds;         // of training, without evaluation
    std::int64_t samples = 0;
    std::optional<EvaluationRecord> evaluation;  // after it
};

// A Witness is a batch of an evaluation and what the network with the weights that a run leaves behind
// answered to it, so that the written model can be compared.
struct Witness {
    std::int64_t batch = 0;
    std::map<std::string, graph::Tensor> inputs;  // by name
    std::vector<graph::Tensor> outputs;           // of the network, in its order
    bool winograd = false;                        // Ready::winograd of what gave them
};

// A WeightsOf says when a run had the weights that it leaves behind.
struct WeightsOf {
    bool best = false;                 // of all evaluations; otherwise the last
    std::int64_t step = 0;             // finished then
    std::int64_t epoch = 0;            // finished then
    bool between = false;              // within the epoch after it
    std::optional<double> score = {};  // of the best evaluation
};

// A TrainResult is what a run leaves behind.
struct TrainResult {
    std::vector<EpochRecord> epochs;  // of this process; a resumed run has those that followed
    std::int64_t steps = 0;           // finished, those before a resumption included
    std::int64_t parameters = 0;      // elements that were trained
    std::optional<Path> resumed_from;
    std::optional<Path> checkpoint;                // that holds the last state; nothing if it was not kept
    std::map<std::string, graph::Tensor> weights;  // trained parameters and statistics, by the model's names
    WeightsOf weights_of;
    std::optional<Witness> witness;  // nothing if none could be made, of which the listener was warned
    bool cancelled = false;          // the listener ended the run; its last state is kept
    bool stopped_early = false;      // by RunOptions::early_stop
};

// These hear of every step and of every evaluation. They are called on the thread that trains.
using OnStep = std::function<void(const StepRecord&)>;
using OnEvaluation = std::function<void(const EvaluationRecord&)>;

// Runs the range test of rate_finder.hpp: training steps with growing rates, until the loss diverges or the
// listener cancels, and returns the pairs of rate and loss. What was trained is thrown away. A loss that is
// no number ends the test. Errors: those of train().
[[nodiscard]] Result<std::vector<RateTrial>> test_rates(const Task& task, const RunOptions& options,
                                                        const RateRange& range, Listener& listener,
                                                        const OnStep& on_step = {});

// Trains. Errors: those of training_step(), of the task's functions, of reading data and of checkpoints;
// malformed if the loss is not finite: the error names the first state that holds such a number and the
// newest checkpoint, which was written before. A fault of the data after some steps is an error too; the
// steps are kept in a checkpoint first. A checkpoint that cannot be written is a warning.
[[nodiscard]] Result<TrainResult> train(const Task& task, const RunOptions& options, Listener& listener,
                                        const OnStep& on_step = {}, const OnEvaluation& on_evaluation = {});

}  // namespace viridian::train
