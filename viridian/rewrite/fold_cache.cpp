#include "viridian/rewrite/fold_cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "viridian/base/hash.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::rewrite {

using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

namespace {

// A graph of this node alone, which reads copies of its constants.
Graph alone_of(const Graph& graph, const Node& node) {
    Graph small;
    Node copy = node;
    for (ValueId& input : copy.inputs)
        if (input != ValueId::none) input = small.add_constant("c", *graph.constant(input));
    small.set_outputs(small.node(small.add_node(copy, node.outputs.size())).outputs);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none)
            small.set_type(small.outputs()[i], graph.value(node.outputs[i]).type);
    return small;
}

const Node& only_node(const Graph& alone) { return alone.node(alone.nodes().front()); }

// Returns whether stand-ins may replace the results: large ones of operators that cannot fail once their
// shape rule accepted the inputs.
bool may_stand_in(const Graph& alone) {
    constexpr std::int64_t small = 65536;  // elements
    constexpr graph::KnownOperator safe[] = {
        op::Add,    op::Sub,       op::Mul,     op::Div,       op::Neg,     op::Sqrt,
        op::MatMul, op::Gemm,      op::Conv,    op::Transpose, op::Reshape, op::Concat,
        op::Split,  op::Unsqueeze, op::Squeeze, op::Flatten,   op::Pad,     op::Cast,
        op::Sum,    op::Identity,  op::Expand,  op::Reciprocal};
    const Node& node = only_node(alone);
    if (!node.op.domain().empty() || std::find(std::begin(safe), std::end(safe), node.op) == std::end(safe))
        return false;
    std::int64_t most = 0;
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none || !alone.value(output).type.known() ||
            alone.value(output).type.element != graph::ElementType::f32)
            return false;
        const auto count = graph::element_count(alone.value(output).type.dims());
        if (!count.ok()) return false;
        most = std::max(most, *count);
    }
    return most > small;
}

// Zeroes behind a name of eight bytes. Pages that nobody writes to take no memory.
std::shared_ptr<const std::byte> named_zeroes(std::size_t bytes, std::uint64_t name) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
    std::memcpy(memory, &name, std::min(bytes, sizeof(name)));
    return {static_cast<const std::byte*>(memory),
            [bytes](const std::byte* p) { ::munmap(const_cast<std::byte*>(p), bytes); }};
}

// Extents before, along and after an axis.
struct Strip {
    std::int64_t before = 1, along = 1, after = 1;
};
Strip strip_of(const graph::Dims& dims, std::int64_t axis) {
    Strip out;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        (at < axis ? out.before : at == axis ? out.along : out.after) *= dims[i];
    }
    return out;
}

// The results of a Reshape, Concat or Split, moved as bytes: reference kernels would move single elements.
// None for any other operator.
std::optional<std::vector<Tensor>> moved_bytes(const Graph& graph, const Node& node) {
    if (!node.op.domain().empty() || node.inputs.empty()) return std::nullopt;
    std::vector<const Tensor*> inputs;
    for (const ValueId input : node.inputs) {
        if (input == ValueId::none) return std::nullopt;
        inputs.push_back(graph.constant(input));
    }
    const auto size = static_cast<std::int64_t>(size_of(inputs[0]->type()));
    const auto rank = static_cast<std::int64_t>(inputs[0]->dims().size());
    std::int64_t axis = node.integer("axis", 0);
    if (axis < 0) axis += rank;
    if (size == 0 || axis < 0 || axis >= rank) return std::nullopt;
    const auto type_of = [&](ValueId value) -> const graph::TensorType& { return graph.value(value).type; };
    for (const ValueId output : node.outputs)
        if (output == ValueId::none || !type_of(output).known()) return std::nullopt;
    if (node.op == op::Reshape) {
        const graph::Dims dims = type_of(node.outputs[0]).dims();
        std::int64_t count = 1;
        for (const std::int64_t d : dims) count *= d;
        if (count != inputs[0]->count()) return std::nullopt;
        return std::vector{inputs[0]->reshaped(dims)};
    }
    const bool joins = node.op == op::Concat;
    if (!joins && node.op != op::Split) return std::nullopt;
    std::vector<Tensor> results;
    std::vector<std::int64_t> widths;
    const auto width = [&](const graph::Dims& dims) {
        const Strip s = strip_of(dims, axis);
        return s.along * s.after * size;
    };
    for (const ValueId output : node.outputs) results.emplace_back(inputs[0]->type(), type_of(output).dims());
    const std::int64_t rows = strip_of(inputs[0]->dims(), axis).before;
    std::int64_t whole = 0;
    for (const Tensor& part : results)
        if (!joins) widths.push_back(width(part.dims()));
    if (joins)
        for (const Tensor* part : inputs) widths.push_back(width(part->dims()));
    for (const std::int64_t w : widths) whole += w;
    if (rows * whole != (joins ? results[0] : *inputs[0]).byte_count()) return std::nullopt;
    std::int64_t start = 0;
    for (std::size_t part = 0; part < widths.size(); ++part) {
        const std::byte* source = joins ? inputs[part]->bytes() : inputs[0]->bytes() + start;
        std::byte* target = joins ? results[0].mutable_bytes() + start : results[part].mutable_bytes();
        for (std::int64_t row = 0; row < rows; ++row)
            std::memcpy(target + row * (joins ? whole : widths[part]),
                        source + row * (joins ? widths[part] : whole),
                        static_cast<std::size_t>(widths[part]));
        start += widths[part];
    }
    return results;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_constants(const Graph& graph, const Node& node) {
    const Graph small = alone_of(graph, node);
    if (auto done = moved_bytes(small, only_node(small))) return *std::move(done);
    constexpr Bytes most_unforeseen(std::int64_t{64} << 20);  // as much as fold_constants makes
    return graph::evaluate(small, std::vector<Tensor>(), most_unforeseen);
}

Result<Tensor> FoldCache::real(const Tensor& tensor, Computed& met) const {
    const auto found = recipes_.find(tensor.bytes());
    if (found == recipes_.end()) return tensor;
    if (const auto known = met.find(tensor.bytes()); known != met.end())
        return known->second.reshaped(tensor.dims());
    VIRIDIAN_TRY(const std::vector<Tensor> results, computed(*found->second.alone, met));
    const Tensor& result = results[found->second.output];
    met.emplace(tensor.bytes(), result);
    return result.reshaped(tensor.dims());
}

Result<std::vector<Tensor>> FoldCache::computed(Graph alone, Computed& met) const {
    for (const ValueId input : only_node(alone).inputs)
        if (input != ValueId::none && recipes_.contains(alone.constant(input)->bytes())) {
            VIRIDIAN_TRY(Tensor tensor, real(*alone.constant(input), met));
            alone.make_constant(input, std::move(tensor));
        }
    return evaluate_constants(alone, only_node(alone));
}

const FoldCache::Recipe* FoldCache::recipe(const Tensor& tensor, graph::KnownOperator op) const {
    const auto found = recipes_.find(tensor.bytes());
    if (found == recipes_.end()) return nullptr;
    const auto& [from, output] = found->second;
    const bool same =
        only_node(*from).op == op && from->value(from->outputs()[output]).type.dims() == tensor.dims();
    return same ? &found->second : nullptr;
}

// Without this, a search that merges and splits weights would give them a new name every time.
std::optional<std::vector<Tensor>> FoldCache::undone(const Graph& alone) const {
    const Node& node = only_node(alone);
    if (node.op != op::Split && node.op != op::Concat) return std::nullopt;
    if (node.inputs.empty() || std::ranges::find(node.inputs, ValueId::none) != node.inputs.end())
        return std::nullopt;
    const Tensor& first = *alone.constant(node.inputs[0]);
    const Recipe* recipe = this->recipe(first, node.op == op::Split ? op::Concat : op::Split);
    if (recipe == nullptr) return std::nullopt;
    const Graph& from = *recipe->alone;
    const Node& before = only_node(from);
    const auto axis = [&](const Node& of) {
        const std::int64_t given = of.integer("axis", 0);
        return given < 0 ? given + static_cast<std::int64_t>(first.dims().size()) : given;
    };
    if (axis(node) != axis(before)) return std::nullopt;
    if (node.op == op::Concat) {
        if (node.inputs.size() != before.outputs.size()) return std::nullopt;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const Recipe* part = this->recipe(*alone.constant(node.inputs[i]), op::Split);
            if (part == nullptr || part->alone != recipe->alone || part->output != i) return std::nullopt;
        }
        return std::vector{*from.constant(before.inputs[0])};
    }
    if (node.outputs.size() != before.inputs.size()) return std::nullopt;
    std::vector<Tensor> found;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        found.push_back(*from.constant(before.inputs[i]));
        if (node.outputs[i] == ValueId::none || !alone.value(node.outputs[i]).type.known() ||
            alone.value(node.outputs[i]).type.dims() != found[i].dims())
            return std::nullopt;
    }
    return found;
}

std::vector<Tensor> FoldCache::stand_ins(const Graph& alone, std::uint64_t key) {
    const auto shared = std::make_shared<const Graph>(alone);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < alone.outputs().size(); ++i) {
        const graph::TensorType& type = alone.value(alone.outputs()[i]).type;
        const auto bytes =
            static_cast<std::size_t>(*graph::element_count(type.dims()) * size_of(type.element));
        auto zeroes = named_zeroes(bytes, Hash().add(key).add(i).value());
        recipes_.emplace(zeroes.get(), Recipe{shared, i});
        results.emplace_back(type.element, type.dims(), std::move(zeroes));
    }
    return results;
}

Result<std::vector<Tensor>> FoldCache::evaluate(const Graph& graph, const Node& node) {
    Graph small = alone_of(graph, node);
    const std::uint64_t key = structural_hash(small);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (large_ == Large::stand_in)
        if (auto parts = undone(small)) return known_[key] = *std::move(parts);
    if (large_ == Large::stand_in && may_stand_in(small)) return known_[key] = stand_ins(small, key);
    Computed met;
    VIRIDIAN_TRY(std::vector<Tensor> results, computed(std::move(small), met));
    std::int64_t bytes = 0;
    for (const Tensor& tensor : results) bytes += tensor.byte_count();
    if (bytes_ + bytes <= most_bytes) {
        bytes_ += bytes;
        known_.emplace(key, results);
    }
    return results;
}

}  // namespace viridian::rewrite
