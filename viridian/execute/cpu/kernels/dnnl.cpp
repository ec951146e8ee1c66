#include "viridian/execute/cpu/kernels/dnnl.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/execute/cpu/pool/crew.hpp"
#include "viridian/execute/cpu/pool/held_signals.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::memory;

constexpr std::size_t arguments_limit = 16;

std::string bytes_of(const memory::desc& descriptor) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&descriptor.data);
    return fmt::format("{:02x}", fmt::join(bytes, bytes + sizeof(descriptor.data), ""));
}

const std::byte* data_of(const Argument& argument, const Pointers& pointers) {
    switch (argument.from) {
        case Argument::From::input:
            return pointers.inputs[argument.index];
        case Argument::From::output:
            return pointers.outputs[argument.index];
        case Argument::From::constant:
            return pointers.constants[argument.index];
        case Argument::From::workspace:
            return pointers.workspace + argument.index;
    }
    return nullptr;
}

// Returns oneDNN's name of the implementation; empty if it has none.
std::string_view implementation_of(const dnnl::primitive& primitive) {
    const char* name = nullptr;
    const auto status = dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0,
                                                  static_cast<void*>(&name));
    return status == dnnl_success && name != nullptr ? name : std::string_view();
}

// Returns whether the primitive may run oneDNN's matrix products ("gemm:jit"), some of which move the stack
// pointer. Other implementations whose names begin with "jit" do not.
bool may_move_stack_pointer(const dnnl::primitive& primitive) {
    const std::string_view implementation = implementation_of(primitive);
    return !implementation.starts_with("jit") || implementation.find("gemm") != std::string_view::npos;
}

// oneDNN's generated forward kernels share their work among threads that have nothing to do with each other.
// Those on its matrix products, and those for the gradients of weights, may wait for sums of other threads.
Crew::Waits waits_of(const dnnl::primitive& primitive) {
    dnnl_prop_kind_t kind = dnnl_prop_kind_undef;
    if (dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_prop_kind, 0, &kind) ==
            dnnl_success &&
        (kind == dnnl_backward || kind == dnnl_backward_data || kind == dnnl_backward_weights))
        return Crew::Waits::anyhow;
    const std::string_view implementation = implementation_of(primitive);
    const bool product = implementation.find("gemm") != std::string_view::npos ||
                         implementation.find("brg") != std::string_view::npos;
    return implementation.starts_with("jit") && !product ? Crew::Waits::at_barriers : Crew::Waits::anyhow;
}

}  // namespace

memory::data_type dnnl_type(graph::ElementType type) {
    switch (type) {
        case graph::ElementType::f32:
            return memory::data_type::f32;
        case graph::ElementType::bf16:
            return memory::data_type::bf16;
        case graph::ElementType::i32:
            return memory::data_type::s32;
        case graph::ElementType::i8:
            return memory::data_type::s8;
        case graph::ElementType::u8:
            return memory::data_type::u8;
        default:
            return memory::data_type::undef;
    }
}

memory::desc plain_descriptor(const graph::Dims& dims, graph::ElementType type) {
    return descriptor(plan::plain(dims.size()), dims, type);
}

memory::desc any_descriptor(const graph::Dims& dims, graph::ElementType type) {
    return memory::desc(dims, dnnl_type(type), memory::format_tag::any);
}

memory::desc descriptor(const plan::Layout& layout, const graph::Dims& dims, graph::ElementType type) {
    const graph::Dims shape = dims.empty() ? graph::Dims{1} : dims;
    const std::vector<std::int64_t> strides =
        dims.empty() ? std::vector<std::int64_t>{1} : plan::strides_of(layout, dims);
    // Row-major first: the constructor refuses strides that only make sense with blocks.
    memory::desc result(shape, dnnl_type(type), plan::strides_of(plan::plain(shape.size()), shape));
    auto& blocking = result.data.format_desc.blocking;
    blocking.inner_nblks = static_cast<int>(layout.blocks.size());
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        const auto d = layout.blocks[i].dimension;
        blocking.inner_blks[i] = layout.blocks[i].size;
        blocking.inner_idxs[i] = d;
        std::int64_t tile = 1;
        for (const auto& block : layout.blocks) tile *= block.dimension == d ? block.size : 1;
        result.data.padded_dims[d] = (dims[d] + tile - 1) / tile * tile;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) blocking.strides[d] = strides[d];
    return result;
}

std::optional<plan::Layout> layout_of(const memory::desc& wanted, const graph::Dims& dims) {
    const auto rank = dims.size();
    const auto element =
        wanted.data_type() == memory::data_type::bf16 ? graph::ElementType::bf16 : graph::ElementType::f32;
    std::vector<plan::Layout> named = {plan::plain(rank)};
    if (rank > 2) named.push_back(plan::channels_last(rank));
    if (rank > 2)
        for (const std::int64_t size : {16, 8, 4}) named.push_back(plan::channels_blocked(rank, size));
    for (plan::Layout& layout : named)
        if (descriptor(layout, dims, element) == wanted) return layout;
    const auto& blocking = wanted.data.format_desc.blocking;
    if (wanted.data.format_kind != dnnl_blocked || blocking.inner_nblks != 0) return std::nullopt;
    std::vector<std::uint8_t> order(rank);
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return blocking.strides[a] > blocking.strides[b]; });
    plan::Layout layout = plan::permuted(order);
    if (descriptor(layout, dims, element) == wanted) return layout;
    return std::nullopt;
}

Kernel staged_kernel(const Context& context, std::vector<Stage> stages, std::vector<Packed> constants,
                     std::int64_t kept) {
    Kernel kernel;
    kernel.constants = std::move(constants);
    std::int64_t scratch = 0;
    for (Stage& stage : stages) {
        const auto bytes = static_cast<std::int64_t>(stage.scratchpad.get_size());
        if (bytes > 0)
            stage.arguments.push_back({Argument::From::workspace, static_cast<std::size_t>(kept),
                                       DNNL_ARG_SCRATCHPAD, stage.scratchpad});
        scratch = std::max(scratch, bytes);
        invariant(stage.arguments.size() <= arguments_limit, "arguments of a primitive fit their table");
    }
    kernel.workspace = Bytes(kept + scratch);

    struct Bound {
        std::vector<memory> memories;
        std::vector<dnnl_exec_arg_t> table;
    };
    struct Bindings {
        dnnl::stream stream;
        std::vector<Bound> stages;
    };
    const auto shared = std::make_shared<const std::vector<Stage>>(std::move(stages));
    kernel.make_bindings = [shared, engine = context.engine] {
        auto bindings = std::make_shared<Bindings>(Bindings{dnnl::stream(engine), {}});
        for (const Stage& stage : *shared) {
            Bound& bound = bindings->stages.emplace_back();
            for (const Argument& argument : stage.arguments) {
                bound.memories.emplace_back(argument.descriptor, engine, nullptr);
                bound.table.push_back({argument.argument, bound.memories.back().get()});
            }
        }
        return bindings;
    };
    kernel.bind = [shared](const Pointers& pointers) {
        auto& bindings = *static_cast<Bindings*>(pointers.bindings);
        for (std::size_t s = 0; s < shared->size(); ++s)
            for (std::size_t i = 0; i < (*shared)[s].arguments.size(); ++i)
                // oneDNN's memories are not const; it writes to outputs and scratch only.
                bindings.stages[s].memories[i].set_data_handle(
                    const_cast<std::byte*>(data_of((*shared)[s].arguments[i], pointers)));
    };
    std::vector<Crew::Waits> waits;
    for (const Stage& stage : *shared) waits.push_back(waits_of(stage.primitive));
    const bool holds_signals =
        std::ranges::any_of(*shared, may_move_stack_pointer, [](const Stage& s) { return s.primitive; });
    kernel.run = [shared, waits = std::move(waits), holds_signals](const Pointers& pointers) {
        const auto& bindings = *static_cast<const Bindings*>(pointers.bindings);
        std::optional<HeldSignals> held;
        if (holds_signals) held.emplace();
        for (std::size_t s = 0; s < shared->size(); ++s) {
            const Bound& bound = bindings.stages[s];
            seat().openmp_waits = waits[s];
            const auto status =
                dnnl_primitive_execute((*shared)[s].primitive.get(), bindings.stream.get(),
                                       static_cast<int>(bound.table.size()), bound.table.data());
            seat().openmp_waits = Crew::Waits::anyhow;
            invariant(status == dnnl_success, "a prepared primitive runs");
        }
    };
    return kernel;
}

Stage reorder_stage(const Context& context, Argument from, Argument to) {
    const dnnl::reorder::primitive_desc reorder(context.engine, from.descriptor, context.engine,
                                                to.descriptor, user_scratchpad());
    const memory::desc scratchpad = reorder.scratchpad_desc();
    return {dnnl::reorder(reorder), {from, to}, scratchpad};
}

Kernel primitive_kernel(const Context& context, const dnnl::primitive& primitive,
                        std::vector<Argument> arguments, std::vector<Packed> constants,
                        const memory::desc& scratchpad) {
    return staged_kernel(context, {{primitive, std::move(arguments), scratchpad}}, std::move(constants), 0);
}

Packed pack_constant(const Task& task, graph::ValueId id, const memory::desc& from, const memory::desc& to) {
    const graph::Tensor& tensor = *task.graph.constant(id);
    const std::string key = fmt::format("{:x} {} {}", tensor.content_hash(), bytes_of(from), bytes_of(to));
    return task.context.packed->find_or_make(key, to.get_size(), [&](std::byte* data) {
        memory source(from, task.context.engine, const_cast<std::byte*>(tensor.bytes()));
        memory target(to, task.context.engine, data);
        dnnl::stream stream = task.context.stream;
        dnnl::reorder(source, target).execute(stream, source, target);
        stream.wait();
    });
}

dnnl::primitive_attr user_scratchpad() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

bool worth_offering(std::string_view implementation) {
    if (implementation.find("ref") != std::string_view::npos) return false;
    const auto isa = dnnl::get_effective_cpu_isa();
    const bool avx512 = isa != dnnl::cpu_isa::sse41 && isa != dnnl::cpu_isa::avx &&
                        isa != dnnl::cpu_isa::avx2 && isa != dnnl::cpu_isa::avx2_vnni;
    const auto ends = [&](std::string_view suffix) { return implementation.ends_with(suffix); };
    if (ends("sse41")) return false;
    if (avx512 && (ends("avx2") || ends("avx"))) return false;
    return true;
}

}  // namespace viridian::execute::cpu
