#include "viridian/gradient/memory/schedule.hpp"

#include <algorithm>
#include <map>

#include "viridian/graph/data_flow.hpp"

namespace viridian::gradient {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
using graph::ValueKind;

constexpr std::size_t nothing = static_cast<std::size_t>(-1);
constexpr std::size_t most_again = 64;       // runs that compute one value again
constexpr std::int64_t worth_a_look = 2000;  // values below this part of the memory stay
// Only the order of candidates depends on these: a thread's, as estimates of kernels have them.
constexpr double flop_per_second = 60e9, bytes_per_second = 12e9, start_seconds = 2e-6;

std::int64_t bytes_of(const graph::TensorType& type) {
    if (!type.known()) return 0;
    return graph::element_count(type.dims()).value() * graph::size_of(type.element);
}

// The nodes that write a state in place: those behind the forward part that make its new value.
std::map<NodeId, ValueId> writers_of(const Graph& graph) {  // node: the old value
    std::map<NodeId, ValueId> writers;
    for (const graph::State& state : graph.states()) {
        const Node* maker = graph.producer(state.after);
        if (maker != nullptr && maker->phase != graph::Phase::forward)
            writers[graph.value(state.after).producer] = state.before;
    }
    return writers;
}

// Whether the same inputs give the same outputs, so that a second run does, and whether it leaves states
// alone.
bool is_repeatable(const Graph& graph, const Node& node, graph::OperatorClass operator_class) {
    const graph::OperatorRow* row = node.op.row();
    return node.phase == graph::Phase::forward && operator_class != graph::OperatorClass::control &&
           row != nullptr && !row->random &&
           std::ranges::none_of(graph.states(), [&](const graph::State& state) {
               return std::ranges::find(node.outputs, state.after) != node.outputs.end();
           });
}

bool is_view(const Node& node) {
    const graph::OperatorRow* row = node.op.row();
    return node.op == graph::op::Transpose || (row != nullptr && row->elements == graph::Elements::reshaped);
}

// The nodes in topological order. A state is written as soon as what it is made of is there and nobody else
// reads the old value, so that a gradient need not be kept; otherwise the smallest id comes first.
Result<std::vector<NodeId>> order_of(const Graph& graph) {
    VIRIDIAN_TRY(std::vector<NodeId> usual, graph::topological_order(graph));
    const std::map<NodeId, ValueId> writers = writers_of(graph);
    const graph::Uses uses = graph::uses(graph);
    std::vector<int> waiting(graph.node_slots(), 0);
    std::vector<std::vector<NodeId>> waiters(graph.node_slots());
    std::set<std::pair<bool, NodeId>> ready;  // writes no state, id
    const auto add = [&](NodeId id) { ready.insert({!writers.contains(id), id}); };
    const auto wait = [&](NodeId id, NodeId before) {
        waiters[index(before)].push_back(id);
        ++waiting[index(id)];
    };
    for (const NodeId id : usual)
        for (const ValueId input : graph.node(id).inputs)
            if (graph.producer(input) != nullptr) wait(id, graph.value(input).producer);
    for (const auto& [writer, state] : writers)
        for (const NodeId reader : uses.readers(state))
            if (reader != writer) wait(writer, reader);
    for (const NodeId id : usual)
        if (waiting[index(id)] == 0) add(id);
    std::vector<NodeId> order;
    while (!ready.empty()) {
        const NodeId id = ready.begin()->second;
        ready.erase(ready.begin());
        order.push_back(id);
        for (const NodeId waiter : waiters[index(id)])
            if (--waiting[index(waiter)] == 0) add(waiter);
    }
    return order.size() == usual.size() ? order : usual;  // two states may wait for each other
}

}  // namespace

Result<Schedule> Schedule::make(const Graph& graph) {
    Schedule schedule;
    schedule.values_.resize(graph.value_count());
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        const graph::Value& value = graph.value(id);
        const bool always = value.kind != ValueKind::intermediate;
        schedule.values_[i] = {id, bytes_of(value.type), always, false};
    }
    for (const ValueId id : graph.outputs()) schedule.values_[index(id)].output = true;
    for (const graph::State& state : graph.states()) {
        invariant(state.after != ValueId::none, "every state of a step has a new value");
        Kept& after = schedule.values_[index(state.after)];
        const Node* maker = graph.producer(state.after);
        after.output = true;
        if (maker != nullptr && maker->phase != graph::Phase::forward) after.bytes = 0;  // written in place
    }
    VIRIDIAN_TRY(const graph::DataFlow flow, graph::data_flow(graph));
    std::map<NodeId, const graph::NodeFlow*> flows;
    for (const graph::NodeFlow& of : flow.nodes) flows[of.node] = &of;
    VIRIDIAN_TRY(const std::vector<NodeId> order, order_of(graph));
    std::set<std::size_t> used;
    for (const NodeId id : order) {
        const graph::NodeFlow& of = *flows.at(id);
        const Node& node = graph.node(id);
        Run run;
        run.node = of.node;
        run.flop = of.flop;
        for (const ValueId input : node.inputs) {
            run.inputs.push_back(input == ValueId::none ? nothing : index(input));
            if (input != ValueId::none) used.insert(index(input));
        }
        for (const ValueId output : node.outputs)
            run.outputs.push_back(output == ValueId::none ? nothing : index(output));
        run.view = is_view(node);
        run.repeatable = is_repeatable(graph, node, of.operator_class);
        const auto bytes = static_cast<double>(of.read.value + of.written.value);
        if (!run.view)
            run.seconds = start_seconds + std::max(static_cast<double>(of.flop.value) / flop_per_second,
                                                   bytes / bytes_per_second);
        schedule.runs_.push_back(std::move(run));
    }
    for (const ValueId id : graph.inputs()) used.insert(index(id));
    for (const graph::State& state : graph.states()) used.insert(index(state.before));
    for (const std::size_t value : used)
        if (schedule.values_[value].always) schedule.always_ += schedule.values_[value].bytes;
    schedule.follow();
    return schedule;
}

void Schedule::follow() {
    const std::size_t count = values_.size();
    root_.resize(count);
    for (std::size_t v = 0; v < count; ++v) root_[v] = v;
    maker_.assign(count, nothing), first_.assign(count, nothing), last_.assign(count, 0);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        const Run& run = runs_[r];
        for (const std::size_t value : run.inputs)
            if (value != nothing) last_[root_[value]] = r;
        for (const std::size_t value : run.outputs) {
            if (value == nothing) continue;
            maker_[value] = r;
            if (run.view && run.inputs[0] != nothing)
                root_[value] = root_[run.inputs[0]];
            else
                first_[value] = last_[value] = r;
        }
    }
    for (const Run& run : runs_)  // outputs stay, and so does what they are views of
        for (const std::size_t value : run.outputs)
            if (value != nothing && values_[value].output) last_[root_[value]] = runs_.size();
    std::vector<std::int64_t> change(runs_.size() + 2, 0);
    for (std::size_t v = 0; v < count; ++v) {
        if (values_[v].always || first_[v] == nothing) continue;
        change[first_[v]] += values_[v].bytes;
        change[std::min(last_[v], runs_.size()) + 1] -= values_[v].bytes;
    }
    alive_.assign(runs_.size() + 1, 0);
    std::int64_t bytes = 0;
    for (std::size_t r = 0; r <= runs_.size(); ++r) alive_[r] = bytes += change[r];
    worst_ = static_cast<std::size_t>(std::ranges::max_element(alive_) - alive_.begin());
    worst_count_ = std::ranges::count(alive_, alive_[worst_]);
}

// Adds the runs that make `value` again before the run `before`, if the memory of `root` is free by then.
bool Schedule::add_again(std::size_t value, std::size_t before, std::size_t root,
                         std::set<std::size_t>& again) const {
    if (value == nothing || values_[value].always || values_[root_[value]].always) return true;
    const std::size_t own = root_[value];
    if (own != root && first_[own] < before && last_[own] >= before) return true;
    const std::size_t maker = maker_[value];
    if (maker == nothing || maker >= before || !runs_[maker].repeatable) return false;
    if (!again.insert(maker).second) return true;
    if (again.size() > most_again) return false;
    return std::ranges::all_of(runs_[maker].inputs,
                               [&](std::size_t input) { return add_again(input, before, root, again); });
}

std::vector<Schedule::Candidate> Schedule::candidates() const {
    struct Read {
        std::size_t first;             // the first run that reads
        std::set<std::size_t> values;  // what is read
    };
    std::map<std::size_t, Read> reads;  // by root
    for (std::size_t r = worst_ + 1; r < runs_.size(); ++r)
        for (const std::size_t value : runs_[r].inputs) {
            if (value == nothing || maker_[value] == nothing || maker_[value] > worst_) continue;
            const std::size_t root = root_[value];
            if (values_[root].always || last_[root] >= runs_.size() || first_[root] >= worst_) continue;
            reads.try_emplace(root, r).first->second.values.insert(value);
        }
    std::vector<Candidate> all;
    for (const auto& entry : reads) {
        const std::size_t root = entry.first;
        const Read& read = entry.second;
        const std::int64_t bytes = values_[root].bytes;
        if (bytes <= alive_[worst_] / worth_a_look) continue;
        const bool read_now = std::ranges::any_of(runs_[worst_].inputs, [&](std::size_t value) {
            return value != nothing && root_[value] == root;
        });
        if (read_now) continue;  // its memory would not become free
        Candidate candidate{root, read.first, {}, 0};
        if (!std::ranges::all_of(read.values, [&](std::size_t value) {
                return add_again(value, read.first, root, candidate.again);
            }))
            continue;
        double seconds = 0;
        for (const std::size_t run : candidate.again) seconds += runs_[run].seconds;
        candidate.gain = static_cast<double>(bytes) / std::max(seconds, start_seconds);
        all.push_back(std::move(candidate));
    }
    std::ranges::stable_sort(all, std::greater<>(), &Candidate::gain);
    return all;
}

Schedule Schedule::with(const Candidate& candidate) const {
    Schedule made = *this;
    std::map<std::size_t, std::size_t> again;  // what readers read instead
    std::vector<Run> runs;
    for (const std::size_t r : candidate.again) {
        Run run = runs_[r];
        run.second = true;
        for (std::size_t& value : run.inputs)
            if (const auto found = again.find(value); found != again.end()) value = found->second;
        for (std::size_t& value : run.outputs) {
            if (value == nothing) continue;
            again[value] = made.values_.size();
            Kept kept = values_[value];
            kept.output = false;
            made.values_.push_back(kept);
            value = made.values_.size() - 1;
        }
        runs.push_back(std::move(run));
    }
    for (std::size_t r = candidate.before; r < made.runs_.size(); ++r)
        for (std::size_t& value : made.runs_[r].inputs)
            if (value != nothing && root_[value] == candidate.root)
                if (const auto found = again.find(value); found != again.end()) value = found->second;
    made.runs_.insert(made.runs_.begin() + static_cast<std::ptrdiff_t>(candidate.before), runs.begin(),
                      runs.end());
    made.follow();
    return made;
}

Graph Schedule::graph_of(const Graph& graph) const {
    Graph made;
    made.name = graph.name;
    made.metadata = graph.metadata;
    std::vector<ValueId> ids(values_.size(), ValueId::none);
    for (const ValueId id : graph.inputs())
        ids[index(id)] = made.add_input(graph.value(id).name, graph.value(id).type);
    for (const graph::State& state : graph.states()) {
        const graph::Value& value = graph.value(state.before);
        const ValueId of = state.of == ValueId::none ? ValueId::none : ids[index(state.of)];
        invariant(of != ValueId::none || state.of == ValueId::none, "a parameter comes before its moments");
        const graph::Tensor* first = graph.first_value(state.before);
        ids[index(state.before)] = first != nullptr ? made.add_state(value.name, *first, state.role, of)
                                                    : made.add_state(value.name, value.type, state.role, of);
    }
    const auto mapped = [&](std::size_t value) {
        if (value == nothing) return ValueId::none;
        if (ids[value] == ValueId::none)
            if (const graph::Tensor* constant = graph.constant(values_[value].id))
                ids[value] = made.add_constant(graph.value(values_[value].id).name, *constant);
        invariant(ids[value] != ValueId::none, "a value is made before it is read");
        return ids[value];
    };
    for (const Run& run : runs_) {
        Node node = graph.node(run.node);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) node.inputs[i] = mapped(run.inputs[i]);
        const std::string ending(run.second ? graph::again_mark : "");
        node.name += ending;
        if (run.second) {
            node.phase = graph::Phase::backward;
            if (!node.origin.empty()) node.twin = node.origin[0];
        }
        std::vector<std::string> names;
        for (const std::size_t value : run.outputs)
            names.push_back(value == nothing ? "" : graph.value(values_[value].id).name + ending);
        const NodeId id = made.add_node(std::move(node), names);
        for (std::size_t i = 0; i < run.outputs.size(); ++i) {
            if (run.outputs[i] == nothing) continue;
            ids[run.outputs[i]] = made.node(id).outputs[i];
            made.set_type(ids[run.outputs[i]], graph.value(values_[run.outputs[i]].id).type);
        }
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : graph.outputs()) outputs.push_back(mapped(index(id)));
    made.set_outputs(std::move(outputs));
    for (const graph::State& state : graph.states())
        made.set_after(mapped(index(state.before)), mapped(index(state.after)));
    return made;
}

std::int64_t Schedule::repeated() const {
    return std::ranges::count_if(runs_, [](const Run& run) { return run.second; });
}

Flop Schedule::repeated_flop() const {
    Flop sum;
    for (const Run& run : runs_)
        if (run.second) sum += run.flop;
    return sum;
}

}  // namespace viridian::gradient
