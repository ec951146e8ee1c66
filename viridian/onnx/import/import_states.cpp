// Reads which inputs and outputs of a model are the states of its graph. The entry `viridian.states` of the
// model's metadata says it; a model without the entry has none.
#include <unordered_set>

#include "viridian/base/json.hpp"
#include "viridian/graph/types_of.hpp"
#include "viridian/onnx/import/import.hpp"

namespace viridian::onnx {
namespace {

using graph::ValueId;

template <class... Arguments>
Error bad_states(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fail(ErrorCode::malformed,
                "write the file again, or remove `viridian.states` from its metadata to read the states as "
                "inputs, constants and outputs",
                format, std::forward<Arguments>(arguments)...);
}

Result<std::string> text_at(const Json& entry, const char* key, std::size_t position) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_string())
        return bad_states("entry {} of the metadata `viridian.states` lacks the text `{}`", position, key);
    return entry[key].get<std::string>();
}

Result<WrittenState> read_state(const Json& entry, std::size_t position) {
    WrittenState state;
    VIRIDIAN_TRY(state.before, text_at(entry, "before", position));
    VIRIDIAN_TRY(state.after, text_at(entry, "after", position));
    VIRIDIAN_TRY(const std::string role, text_at(entry, "role", position));
    const auto known = graph::parse_state_role(role);
    if (!known) return bad_states("the state `{}` has the unknown role `{}`", state.before, role);
    state.role = *known;
    if (entry.contains("of")) {
        VIRIDIAN_TRY(state.of, text_at(entry, "of", position));
    }
    return state;
}

}  // namespace

Result<std::vector<WrittenState>> read_states(std::string_view text) {
    const auto json = parse_json(text, std::string(states_key));
    if (!json.ok() || !json->is_array())
        return bad_states("the metadata `viridian.states` is no JSON list of states");
    std::vector<WrittenState> states;
    std::unordered_set<std::string> before, after;
    for (const Json& entry : *json) {
        VIRIDIAN_TRY(WrittenState state, read_state(entry, states.size()));
        if (!state.of.empty() && !before.contains(state.of))
            return bad_states("the state `{}` belongs to `{}`, which is no state before it", state.before,
                              state.of);
        if (!before.insert(state.before).second)
            return bad_states("the state `{}` is listed twice", state.before);
        if (!after.insert(state.after).second)
            return bad_states("`{}` is the new value of two states", state.after);
        states.push_back(std::move(state));
    }
    return states;
}

Result<void> import_states(Context& context, Scope& scope, const GraphProto& proto) {
    std::unordered_map<std::string_view, const ValueInfoProto*> inputs, outputs;
    for (const ValueInfoProto& info : proto.input()) inputs.emplace(info.name(), &info);
    for (const ValueInfoProto& info : proto.output()) outputs.emplace(info.name(), &info);
    for (const WrittenState& state : context.states) {
        const auto input = inputs.find(state.before);
        if (input == inputs.end()) return bad_states("the state `{}` is no input of the model", state.before);
        if (!outputs.contains(state.after))
            return bad_states("`{}`, the new value of the state `{}`, is no output of the model", state.after,
                              state.before);
        VIRIDIAN_TRY(graph::TensorType type, import_type(context, *input->second));
        if (type.element == graph::ElementType::undefined && context.unsupported.none())
            return bad_states("the state `{}` has no element type", state.before);
        const ValueId of = state.of.empty() ? ValueId::none : scope.values.at(state.of);
        scope.values[state.before] = scope.graph.add_state(state.before, std::move(type), state.role, of);
    }
    return {};
}

Result<void> set_first_value(Scope& scope, ValueId id, graph::Tensor tensor) {
    const graph::Value& value = scope.graph.value(id);
    if (!graph::may_agree(value.type, tensor.tensor_type()))
        return bad_states("the state `{}` is {}, its first value is {}", value.name, text(value.type),
                          text(tensor.tensor_type()));
    scope.graph.set_type(id, tensor.tensor_type());
    scope.graph.set_first_value(id, std::move(tensor));
    return {};
}

Result<void> set_new_values(const Context& context, Scope& scope) {
    for (const WrittenState& state : context.states) {
        const ValueId before = scope.values.at(state.before);
        const auto found = scope.values.find(state.after);
        if (found == scope.values.end())
            return fail(ErrorCode::malformed, "export the model again", "nothing defines the output `{}`",
                        state.after);
        const ValueId after = found->second;
        if (!graph::may_agree(scope.graph.value(before).type, scope.graph.value(after).type))
            return bad_states("the state `{}` is {}, its new value `{}` is {}", state.before,
                              text(scope.graph.value(before).type), state.after,
                              text(scope.graph.value(after).type));
        scope.graph.set_after(before, after);
    }
    return {};
}

}  // namespace viridian::onnx
