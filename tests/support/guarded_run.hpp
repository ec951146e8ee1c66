#pragma once
// Runs a plan on the processor's kernels with every tensor in memory of its own beside a guard page. The
// plan's arena keeps the tensors of a run close together, so that a kernel which reads past the end of one
// finds another there, and no tool notices.
#include <csignal>

#include "tests/support/guarded_memory.hpp"
#include "viridian/execute/cpu/bound_step.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"
#include "viridian/execute/cpu/primitive_cache.hpp"

namespace viridian::tests {

// Makes a context like that of a device with `threads` threads that were not pinned.
inline execute::cpu::Context guarded_context(int threads) {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return {engine,
            dnnl::stream(engine),
            threads,
            {},
            std::make_shared<execute::cpu::PackedConstants>(),
            std::make_shared<execute::cpu::Pool>(threads, std::vector<int>())};
}

// While a NamedStep lives, a kernel that is stopped by a guard page prints its name before the process ends.
class NamedStep {
  public:
    explicit NamedStep(std::string name) : before_(std::exchange(current(), this)), name_(std::move(name)) {
        static const bool installed = [] {
            struct sigaction action{};
            action.sa_handler = &NamedStep::print;
            action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
            return sigaction(SIGSEGV, &action, &old()) == 0;
        }();
        static_cast<void>(installed);
    }
    ~NamedStep() { current() = before_; }
    NamedStep(const NamedStep&) = delete;
    NamedStep& operator=(const NamedStep&) = delete;

  private:
    static NamedStep*& current() {
        static NamedStep* step = nullptr;
        return step;
    }
    static struct sigaction& old() {
        static struct sigaction action{};
        return action;
    }
    // Returning repeats the access, under the handler that was there before.
    static void print(int) {
        if (const NamedStep* step = current()) {
            constexpr std::string_view words = "beyond the bounds of a tensor: ";
            std::string_view name = step->name_;
            [[maybe_unused]] auto written = write(2, words.data(), words.size());
            written = write(2, name.data(), name.size());
            written = write(2, "\n", 1);
        }
        sigaction(SIGSEGV, &old(), nullptr);
    }

    NamedStep* before_;
    std::string name_;
};

// The memory of one run: a guarded block for each root buffer of the plan, and for constants and scratch.
class GuardedRun {
  public:
    GuardedRun(const graph::Graph& graph, const plan::Plan& plan, Guard guard)
        : graph_(graph), plan_(plan), guard_(guard) {
        for (const plan::Buffer& buffer : plan.buffers) {
            const bool root = !buffer.view_of;
            const std::int64_t bytes = root ? plan::buffer_bytes(buffer.format, buffer.dims) : 0;
            blocks_.emplace_back(static_cast<std::size_t>(std::max(bytes, buffer.bytes)), guard,
                                 alignment_of(buffer));
        }
    }

    // Writes the inputs, and constants that are outputs.
    void fill(std::span<const graph::Tensor> inputs) {
        for (std::size_t i = 0; i < inputs.size(); ++i) write_tensor(plan_.inputs[i], inputs[i]);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (!plan_.buffers[plan_.inputs[i]].view_of) blocks_[plan_.inputs[i]].seal();
        for (const plan::BufferId id : plan_.outputs)
            if (const graph::Tensor* constant = graph_.constant(plan_.buffers[id].value))
                write_tensor(id, *constant);
    }

    void run(const plan::Step& step, execute::cpu::Kernel kernel) {
        const bool converts = step.kind == plan::Step::Kind::conversion;
        const NamedStep named(converts ? "a conversion" : step.choice.key());
        std::vector<GuardedMemory> packed;
        execute::cpu::BoundStep bound{
            std::make_shared<const execute::cpu::Kernel>(std::move(kernel)), {}, {}, {}, {}, {}};
        for (const plan::BufferId id : step.inputs) bound.inputs.push_back(address(id));
        for (const plan::BufferId id : step.outputs) bound.outputs.push_back(address(id));
        const GuardedMemory workspace(static_cast<std::size_t>(bound.kernel->workspace.value), guard_, 64);
        bound.point(workspace.data());
        for (std::size_t i = 0; i < bound.constants.size(); ++i) {
            const execute::cpu::Packed& constant = bound.kernel->constants[i];
            packed.emplace_back(constant->size(), guard_, 64);
            if (constant->size() > 0) std::memcpy(packed.back().data(), constant->data(), constant->size());
            packed.back().seal();
            bound.constants[i] = packed.back().data();
        }
        bound.bind();
        bound.run();
    }

    [[nodiscard]] std::vector<graph::Tensor> outputs() const {
        std::vector<graph::Tensor> tensors;
        for (const plan::BufferId id : plan_.outputs) {
            const plan::Buffer& buffer = plan_.buffers[id];
            graph::Tensor& tensor = tensors.emplace_back(buffer.format.element, buffer.dims);
            if (tensor.byte_count() > 0)
                std::memcpy(tensor.mutable_bytes(), address(id),
                            static_cast<std::size_t>(tensor.byte_count()));
        }
        return tensors;
    }

  private:
    // Blocked layouts are whole vectors; tensors in plain order may end anywhere.
    static std::size_t alignment_of(const plan::Buffer& buffer) {
        return buffer.format.layout.blocks.empty() ? static_cast<std::size_t>(std::max<std::int64_t>(
                                                         graph::size_of(buffer.format.element), 1))
                                                   : 64;
    }
    [[nodiscard]] std::byte* address(plan::BufferId id) const {
        std::int64_t offset = 0;
        for (; plan_.buffers[id].view_of; id = *plan_.buffers[id].view_of)
            offset += plan_.buffers[id].view_offset;
        return blocks_[id].data() + offset;
    }
    void write_tensor(plan::BufferId id, const graph::Tensor& tensor) {
        if (tensor.byte_count() > 0)
            std::memcpy(address(id), tensor.bytes(), static_cast<std::size_t>(tensor.byte_count()));
    }

    const graph::Graph& graph_;
    const plan::Plan& plan_;
    Guard guard_;
    std::vector<GuardedMemory> blocks_;  // by buffer; those of views are empty
};

// Runs every step of `plan` once and returns the outputs. Errors: those of preparing and of the kernels.
inline Result<std::vector<graph::Tensor>> run_guarded(const execute::cpu::Context& context,
                                                      const graph::Graph& graph, const plan::Plan& plan,
                                                      std::span<const graph::Tensor> inputs, Guard guard) {
    const execute::cpu::NoPrimitiveCache no_cache;
    return execute::cpu::with_crew(*context.pool, [&]() -> Result<std::vector<graph::Tensor>> {
        GuardedRun run(graph, plan, guard);
        run.fill(inputs);
        for (const plan::Step& step : plan.steps) {
            VIRIDIAN_TRY(execute::cpu::Kernel kernel, execute::cpu::prepare_step(context, graph, plan, step));
            run.run(step, std::move(kernel));
        }
        return run.outputs();
    });
}

}  // namespace viridian::tests
