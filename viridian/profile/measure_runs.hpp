#pragma once
// Times whole runs of several executables. Their time slices are interleaved, so that other work of the
// machine disturbs all of them alike.
#include "viridian/base/statistics.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::profile {

// A Subject is an executable that is timed, with the tensors that it runs on.
struct Subject {
    execute::Executable* executable;
    std::vector<graph::Tensor> inputs;
    std::vector<graph::Tensor> outputs;  // scratch of the right types
};

// A RunProtocol says how often and how long each subject runs.
struct RunProtocol {
    int warm_up = 2;  // runs of each subject before the first round
    int rounds = 9;
    Seconds per_slice{0.05};  // each subject runs at least this long, and twice, in each round
};

// A TimeSlice holds the seconds of each run in one time slice.
struct TimeSlice {
    std::vector<double> undisturbed;
    std::vector<double> disturbed;  // meanwhile a thread lost its processor to something else

    // Adds the runs of another slice of the same subject.
    void add(const TimeSlice& more);
    // Returns the seconds of all runs, undisturbed and disturbed.
    [[nodiscard]] std::vector<double> all() const;
    // Returns the share of the time of all runs, from 0 to 1, that disturbed ones took beyond the median of
    // the undisturbed ones. A run of which a disturbance took little counts for little. Without undisturbed
    // runs the shortest one stands for their median.
    [[nodiscard]] double lost_share() const;
};

// Runs the subject for `at_least` seconds, and at least twice. The first run meets the caches as another
// subject left them and is not counted. If it takes at least `alone`, it does count and is the whole slice,
// because the caches mean little to so long a run. Errors: those of running.
[[nodiscard]] Result<TimeSlice> time_slice(Subject& subject, Seconds at_least, Seconds alone = Seconds(1e30));

// Returns a summary of each subject's seconds per run: over the undisturbed runs if every subject has a few
// of them, else over all runs.
[[nodiscard]] std::vector<Summary> summarize_slices(const std::vector<TimeSlice>& subjects);

// Runs every subject for one slice in each round and returns a summary of each one's seconds per run. Errors:
// those of running.
[[nodiscard]] Result<std::vector<Summary>> measure_runs(std::vector<Subject>& subjects,
                                                        const RunProtocol& protocol);

}  // namespace viridian::profile
