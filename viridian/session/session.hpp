#pragma once
// A Session is a model that is ready to run: from an .onnx file, or from a plan that `optimize` wrote beside
// one.
#include "viridian/base/listener.hpp"
#include "viridian/optimize/files/sidecar.hpp"
#include "viridian/optimize/planned.hpp"
#include "viridian/session/open.hpp"

namespace viridian::session {

// ModelFiles are the files that a name on the command line stands for.
struct ModelFiles {
    Path model;
    std::optional<Path> plan;  // given, if the name ends in .plan.json; the model then lies beside it
};
// Returns the files of `name`, which is that of a model or of a plan.
[[nodiscard]] ModelFiles files_of(const std::string& name);

// A LoadedModel is a model, read and bound to its sizes, with its plan's file if there is one.
struct LoadedModel {
    ModelFiles files;
    graph::Graph graph;                   // with a plan, the graph that it names; without one, simplified
    std::shared_ptr<const Json> sidecar;  // null without a plan
    optimize::Request request;            // the request that the plan was made for
};
// Reads the model, and its plan if `options.model` names a plan. Errors: those of reading; malformed for a
// file that is no plan; invalid_argument if `options.as` is given with a plan. A model without a plan is
// simplified, but not by the rules `without`.
[[nodiscard]] Result<LoadedModel> load(const ModelOptions& options, Listener* listener = nullptr,
                                       const std::vector<std::string>& without = {});

// A Tuning is the request for which the kernels of a session were chosen anew.
struct Tuning {
    search::Objective objective;
    bool bf16 = false;
};

struct Session {
    std::unique_ptr<execute::Device> device;
    optimize::PlannedModel planned;
    std::optional<Tuning> tuning;  // absent if the kernels are those of the plan, or follow from estimates
};

// Makes the plan's kernels ready; without a plan, those that are best by estimated prices
// (profile/estimated.hpp). Errors: malformed for a plan that was changed; mismatch for another model, another
// machine, or kernels that do not do what the plan gives them to do; limit_exceeded or out_of_memory if the
// run would need more memory than the options allow.
[[nodiscard]] Result<Session> prepare(LoadedModel model, ModelOptions options);

// Returns what a run of `graph`, simplified as load() does, would need with the kernels that prepare() gives
// it. With options.memory, kernels with large workspaces are avoided if the run would not fit otherwise.
// Errors: those of prepare(), except for too little memory.
[[nodiscard]] Result<Bytes> planned_need(graph::Graph graph, const ModelOptions& options);

// Makes the model ready with every node by itself, by the first kernel that the device offers. Errors: those
// of prepare().
[[nodiscard]] Result<Session> prepare_apart(LoadedModel model, const ModelOptions& options);

// Chooses kernels anew for this machine and for the request of the plan (without a plan: least time). If
// bf16 is allowed or an error bound was asked for, the plan is proven against the graph on inputs made from
// `seed`. `listener` is told which parts of the request cannot be met. Errors: those of pricing, solving,
// proving and preparing.
[[nodiscard]] Result<Session> retune(LoadedModel model, ModelOptions options, std::uint64_t seed,
                                     Listener& listener);

}  // namespace viridian::session
