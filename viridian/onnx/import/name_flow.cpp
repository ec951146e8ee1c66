#include "viridian/onnx/import/name_flow.hpp"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace viridian::onnx {
namespace {

// Appends a name once.
class Names {
  public:
    void add(const std::string& name) {
        if (!name.empty() && seen_.insert(name).second) list_.push_back(name);
    }
    std::vector<std::string> list() && { return std::move(list_); }

  private:
    std::unordered_set<std::string> seen_;
    std::vector<std::string> list_;
};

}  // namespace

std::vector<std::string> free_names(const GraphProto& body) {
    std::unordered_set<std::string_view> defined;
    for (const auto& input : body.input()) defined.insert(input.name());
    for (const auto& tensor : body.initializer()) defined.insert(tensor.name());
    for (const auto& sparse : body.sparse_initializer()) defined.insert(sparse.values().name());
    for (const NodeProto& node : body.node())
        for (const std::string& output : node.output()) defined.insert(output);
    Names free;
    const auto read = [&](const std::string& name) {
        if (!defined.contains(name)) free.add(name);
    };
    for (const NodeProto& node : body.node())
        for (const std::string& name : names_read(node)) read(name);
    for (const auto& output : body.output()) read(output.name());
    return std::move(free).list();
}

std::vector<std::string> names_read(const NodeProto& node) {
    Names names;
    for (const std::string& input : node.input()) names.add(input);
    for (const AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g())
            for (const std::string& name : free_names(attribute.g())) names.add(name);
        for (const GraphProto& body : attribute.graphs())
            for (const std::string& name : free_names(body)) names.add(name);
    }
    return std::move(names).list();
}

Result<std::vector<int>> node_order(const Nodes& nodes, const std::vector<std::string_view>& outside) {
    std::unordered_map<std::string_view, int> producer;  // −1: known from outside
    for (const std::string_view name : outside) producer.emplace(name, -1);
    for (int i = 0; i < nodes.size(); ++i)
        for (const std::string& output : nodes[i].output())
            if (!output.empty() && !producer.emplace(output, i).second)
                return fail(ErrorCode::malformed, "export the model again",
                            "`{}` is defined twice, the second time by node {}", output, name_of(nodes[i]));

    std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
    std::vector<int> waiting(static_cast<std::size_t>(nodes.size()), 0);
    for (int i = 0; i < nodes.size(); ++i)
        for (const std::string& name : names_read(nodes[i])) {
            const auto found = producer.find(name);
            if (found == producer.end())
                return fail(ErrorCode::malformed, "export the model again",
                            "node {} reads `{}`, which nothing defines", name_of(nodes[i]), name);
            if (found->second < 0) continue;
            readers[static_cast<std::size_t>(found->second)].push_back(i);
            ++waiting[static_cast<std::size_t>(i)];
        }

    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < nodes.size(); ++i)
        if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
    std::vector<int> order;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        order.push_back(next);
        for (const int reader : readers[static_cast<std::size_t>(next)])
            if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
    for (int i = 0; i < nodes.size(); ++i)
        if (waiting[static_cast<std::size_t>(i)] > 0)
            return fail(ErrorCode::malformed, "export the model again", "the nodes form a cycle through {}",
                        name_of(nodes[i]));
    return order;
}

std::string name_of(const NodeProto& node) {
    std::string name = node.name();
    if (name.empty() && node.output_size() > 0) name = node.output(0);
    return fmt::format("`{}` ({})", name, node.op_type());
}

}  // namespace viridian::onnx
