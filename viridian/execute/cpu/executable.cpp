#include "viridian/execute/cpu/executable.hpp"

#include <cstring>
#include <set>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"
#include "viridian/execute/cpu/run_state.hpp"
#include "viridian/execute/cpu/state_store.hpp"
#include "viridian/execute/resting.hpp"
#include "viridian/plan/states.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using plan::BufferId;

// How traces name a step.
struct StepName {
    std::string name;    // of the node that heads it
    std::string origin;  // where it came from
    trace::Pass pass = trace::Pass::unknown;
    trace::NameId name_id = 0;
    trace::PathId path_id = 0;
};

trace::Pass pass_of(graph::Phase phase) {
    switch (phase) {
        case graph::Phase::forward:
            return trace::Pass::forward;
        case graph::Phase::backward:
            return trace::Pass::backward;
        case graph::Phase::weight:
            return trace::Pass::weight;
        case graph::Phase::update:
            return trace::Pass::update;
    }
    return trace::Pass::unknown;
}

StepName name_of(const Graph& graph, const plan::Plan& plan, const plan::Step& step) {
    StepName result;
    if (step.kind == plan::Step::Kind::conversion) {
        result.name = fmt::format("convert {}", graph.value(plan.buffers[step.inputs[0]].value).name);
        return result;
    }
    const graph::Node& head = graph.node(step.region.nodes.front());
    result.name = head.name.empty() ? std::string(head.op.name()) : head.name;
    for (const graph::NodeId id : step.region.nodes)
        if (const auto& origin = graph.node(id).origin; result.origin.empty() && !origin.empty())
            result.origin = origin.front();
    result.pass = pass_of(head.phase);
    if (!head.twin.empty()) result.origin = head.twin;  // the layer whose gradient or update it is
    return result;
}

bool is_training(const Graph& graph) {
    return std::ranges::any_of(
        graph.nodes(), [&](graph::NodeId id) { return graph.node(id).phase != graph::Phase::forward; });
}

// A pointer of a step into memory that each run brings along.
struct External {
    std::size_t step;
    std::size_t slot;
    bool is_output;       // slot of the step's outputs
    bool from_output;     // of the run's outputs
    std::size_t index;    // which of the run's inputs or outputs
    std::int64_t offset;  // bytes
};

// By step: the constants that no later step reads.
std::vector<std::vector<ValueId>> last_constants(const Graph& graph, const plan::Plan& plan) {
    std::vector<std::size_t> last(graph.value_count(), plan.steps.size());
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        if (plan.steps[s].kind == plan::Step::Kind::kernel)
            for (const ValueId id : plan.steps[s].region.constants) last[index(id)] = s;
    for (const ValueId id : graph.outputs())
        if (id != ValueId::none) last[index(id)] = plan.steps.size();
    std::vector<std::vector<ValueId>> of(plan.steps.size());
    for (std::size_t i = 0; i < last.size(); ++i)
        if (last[i] < of.size() && graph.constant(static_cast<ValueId>(i)) != nullptr)
            of[last[i]].push_back(static_cast<ValueId>(i));
    return of;
}

// Frees a constant's bytes. Its type and dimensions stay.
void let_go(Graph& graph, ValueId id) {
    const Tensor* constant = graph.constant(id);
    if (constant->count() <= 1) return;  // its number may say what a step does
    graph.make_constant(id, Tensor(constant->type(), constant->dims(), std::shared_ptr<const std::byte>()));
}

class CpuExecutable final : public Executable, public Resting {
  public:
    explicit CpuExecutable(const Context& context) : context_(context) {}

    // `consumed`: null, or the same graph.
    Result<void> prepare(const Graph& graph, const plan::Plan& plan, Graph* consumed) {
        const std::vector<std::vector<ValueId>> last = last_constants(graph, plan);
        const bool training = is_training(graph);
        std::int64_t workspace = 0;  // what the kernels ask for, whatever a plan from a file says
        for (std::size_t s = 0; s < plan.steps.size(); ++s) {
            VIRIDIAN_TRY(Kernel kernel, prepare_step(context_, graph, plan, plan.steps[s]));
            names_.push_back(name_of(graph, plan, plan.steps[s]));
            if (!training) names_.back().pass = trace::Pass::unknown;
            workspace = std::max(workspace, kernel.workspace.value);
            if (consumed != nullptr)
                for (const ValueId id : last[s]) let_go(*consumed, id);
            lay_out(plan, s, std::move(kernel));
        }
        arena_bytes_ = static_cast<std::size_t>(plan.arena_bytes);
        workspace_bytes_ = static_cast<std::size_t>(workspace);
        for (const BufferId id : plan.inputs) inputs_.push_back(type_of(plan.buffers[id]));
        for (const BufferId id : plan.outputs) {
            if (const Tensor* constant = graph.constant(plan.buffers[id].value))
                constants_.emplace_back(outputs_.size(), *constant);
            outputs_.push_back(type_of(plan.buffers[id]));
        }
        kept_.prepare(graph, plan, consumed);
        const RunStates::Lease first(states_, [this] { return make_state(); });
        return {};
    }

    Result<void> run(std::span<const Tensor> inputs, std::span<Tensor> outputs) override {
        VIRIDIAN_TRY(check(inputs, outputs));
        if (kept_.count() == 0) return run_now(inputs, outputs);
        return kept_.hold([&] { return run_now(inputs, outputs); });
    }

    std::size_t state_count() const override { return kept_.count(); }
    Result<Tensor> state(std::size_t i) const override { return kept_.get(i); }
    Result<void> set_state(std::size_t i, const Tensor& value) override { return kept_.set(i, value); }
    Result<StateMemory> state_memory(std::size_t i) override { return kept_.memory(i); }
    void rest() override {
        states_.clear();
        kept_.rest();
    }
    Result<void> share_states(Executable& owner) override {
        auto* const other = dynamic_cast<CpuExecutable*>(&owner);
        if (other == nullptr)
            return fail(ErrorCode::unsupported, "prepare both on one device",
                        "the states lie on different devices");
        states_.clear();  // its steps know the old addresses
        return kept_.share(other->kept_);
    }
    Bytes copied_into_states() const override { return kept_.copied(); }

    void record(trace::Recorder* recorder) override {
        recorder_ = recorder;
        if (recorder == nullptr) return;
        trace::Trace& about = recorder->about();
        for (StepName& step : names_) {
            step.name_id = about.names.add(step.name);
            step.path_id =
                about.paths.add(0, step.origin.empty() ? step.name_id : about.names.add(step.origin));
        }
    }

    Bytes memory() const override {
        std::size_t bytes = kept_.size();
        states_.for_each(
            [&](const RunState& state) { bytes += state.arena.size() + state.workspace.size(); });
        std::set<const Buffer*> counted;
        for (const StepLayout& layout : layouts_)
            for (const Packed& packed : layout.kernel->constants)
                if (counted.insert(packed.get()).second) bytes += packed->size();
        return Bytes(static_cast<std::int64_t>(bytes));
    }

  private:
    Result<void> run_now(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
        return with_crew(*context_.pool, [&]() -> Result<void> {
            try {
                const RunStates::Lease lease(states_, [this] { return make_state(); });
                run_in(*lease, lease.position(), inputs, outputs);
            } catch (const std::bad_alloc&) {
                return fail(ErrorCode::out_of_memory, "free memory, or let fewer runs overlap",
                            "there is no memory for another run of {} MiB", arena_bytes_ >> 20);
            }
            return {};
        });
    }

    struct Type {
        graph::ElementType element;
        graph::Dims dims;
    };
    static Type type_of(const plan::Buffer& buffer) { return {buffer.format.element, buffer.dims}; }

    std::unique_ptr<RunState> make_state() {
        return std::make_unique<RunState>(layouts_, arena_bytes_, workspace_bytes_, kept_);
    }

    // `lane`: as which thread the run is recorded.
    void run_in(RunState& state, std::uint32_t lane, std::span<const Tensor> inputs,
                std::span<Tensor> outputs) const {
        for (const External& external : externals_) {
            BoundStep& step = state.steps[external.step];
            if (external.is_output)
                step.outputs[external.slot] = outputs[external.index].mutable_bytes() + external.offset;
            else
                step.inputs[external.slot] = (external.from_output ? outputs[external.index].bytes()
                                                                   : inputs[external.index].bytes()) +
                                             external.offset;
        }
        for (const auto& [output, constant] : constants_)
            std::copy_n(constant.bytes(), constant.byte_count(), outputs[output].mutable_bytes());
        for (const std::size_t s : rebound_) state.steps[s].bind();
        if (recorder_ == nullptr || lane >= recorder_->threads())
            for (const BoundStep& step : state.steps) step.run();
        else
            run_recorded(state, lane);
    }

    void run_recorded(const RunState& state, std::uint32_t lane) const {
        for (std::size_t s = 0; s < state.steps.size(); ++s) {
            const auto start = trace::Recorder::now();
            state.steps[s].run();
            recorder_->record(lane, names_[s].name_id, start, trace::Recorder::now(), names_[s].path_id,
                              trace::Kind::operation, names_[s].pass);
        }
    }

    Result<void> check(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
        if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size())
            return fail(ErrorCode::mismatch, "give one tensor per input and output",
                        "the plan has {} inputs and {} outputs, {} and {} were given", inputs_.size(),
                        outputs_.size(), inputs.size(), outputs.size());
        const auto fits = [](const Tensor& tensor, const Type& type) {
            return tensor.type() == type.element && tensor.dims() == type.dims;
        };
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!fits(inputs[i], inputs_[i]))
                return fail(ErrorCode::mismatch, "give tensors of the plan's types",
                            "input {} is {}, the plan expects {}", i, text(inputs[i].tensor_type()),
                            text(graph::TensorType{inputs_[i].element, graph::shape_of(inputs_[i].dims)}));
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (!fits(outputs[i], outputs_[i]))
                return fail(ErrorCode::mismatch, "give tensors of the plan's types",
                            "output {} is {}, the plan writes {}", i, text(outputs[i].tensor_type()),
                            text(graph::TensorType{outputs_[i].element, graph::shape_of(outputs_[i].dims)}));
        return {};
    }

    void lay_out(const plan::Plan& plan, std::size_t s, Kernel kernel) {
        StepLayout layout;
        layout.kernel = std::make_shared<const Kernel>(std::move(kernel));
        const auto place = [&](BufferId id, std::size_t slot, bool is_output) {
            std::int64_t offset = 0;
            for (; plan.buffers[id].view_of; id = *plan.buffers[id].view_of)
                offset += plan.buffers[id].view_offset;
            if (const plan::Buffer& root = plan.buffers[id]; !root.external)
                return Place{root.persistent ? Place::In::states : Place::In::arena,
                             root.arena_offset + offset};
            const auto find = [&](const std::vector<BufferId>& list) {
                return static_cast<std::size_t>(std::ranges::find(list, id) - list.begin());
            };
            const std::size_t input = find(plan.inputs);
            const bool from_output = input == plan.inputs.size();
            externals_.push_back(
                {s, slot, is_output, from_output, from_output ? find(plan.outputs) : input, offset});
            return Place{Place::In::outside, 0};
        };
        const plan::Step& step = plan.steps[s];
        for (std::size_t i = 0; i < step.inputs.size(); ++i)
            layout.inputs.push_back(place(step.inputs[i], i, false));
        for (std::size_t i = 0; i < step.outputs.size(); ++i)
            layout.outputs.push_back(place(step.outputs[i], i, true));
        if (layout.moves()) rebound_.push_back(s);
        layouts_.push_back(std::move(layout));
    }

    // What all runs share.
    Context context_;
    std::vector<StepLayout> layouts_;
    std::size_t arena_bytes_ = 0, workspace_bytes_ = 0;
    std::vector<StepName> names_;
    std::vector<External> externals_;
    std::vector<std::size_t> rebound_;  // steps with external pointers
    std::vector<Type> inputs_, outputs_;
    std::vector<std::pair<std::size_t, Tensor>> constants_;  // outputs that are, by position
    trace::Recorder* recorder_ = nullptr;
    // What each run has for itself.
    RunStates states_;
    StateStore kept_;  // between runs
};

}  // namespace

Result<std::unique_ptr<Executable>> prepare_plan(const Context& context, const Graph& graph,
                                                 const plan::Plan& plan, Graph* consumed) {
    if (const Bytes there = this_machine().memory; Bytes(plan.arena_bytes + plan.state_bytes) > there)
        return fail(ErrorCode::out_of_memory, "use a smaller batch, or a machine with more memory",
                    "the plan's activations and states are {} MiB, this machine has {} MiB",
                    (plan.arena_bytes + plan.state_bytes) >> 20, there.value >> 20);
    VIRIDIAN_TRY(plan::check_states(graph, plan));
    const NoPrimitiveCache no_cache;
    auto executable = std::make_unique<CpuExecutable>(context);
    VIRIDIAN_TRY(with_crew(*context.pool, [&]() -> Result<void> {
        try {
            return executable->prepare(graph, plan, consumed);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                        "there is no memory for a plan of {} MiB", plan.arena_bytes >> 20);
        }
    }));
    return std::unique_ptr<Executable>(std::move(executable));
}

}  // namespace viridian::execute::cpu
