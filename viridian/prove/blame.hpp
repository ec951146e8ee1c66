#pragma once
// Finds where the error of a plan in mixed precision comes from. Each region that rounds to bf16 runs rounded
// while every other region runs in f32; the change of the network's outputs is the region's blame. It
// includes what later layers make of the error: a cancellation behind a convolution blames the convolution.
#include "viridian/execute/device.hpp"

namespace viridian::prove {

// A Blame is the error that one region causes.
struct Blame {
    std::vector<graph::NodeId> nodes;  // the region's
    std::string node;                  // the last of them
    std::string tensor;                // what it writes
    std::string kernel;
    bool winograd_bf16 = false;  // the kernel is Winograd in bf16, which amplifies its roundings
    // `local` and `error` are the largest ones over all sets of inputs.
    double local = 0;  // relative L2 of what the region writes if its inputs are exact
    // Error of the network's worst output or new state, as ResultJudge measures it (training.hpp). Weights of
    // optimisers that divide gradients by their size do not count; their moments do. In a plan so large that
    // running on from each region would take too long, it equals `local`.
    double error = 0;
};

// Returns one entry per region that rounds, worst first, equal ones in the order of execution. `sets` holds
// sets of the graph's inputs. Errors: those of preparing and running.
[[nodiscard]] Result<std::vector<Blame>> blame_rounding(execute::Device& device, const graph::Graph& graph,
                                                        const plan::Plan& plan,
                                                        const std::vector<std::vector<graph::Tensor>>& sets);

}  // namespace viridian::prove
