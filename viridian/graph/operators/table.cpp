#include <map>

#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"

namespace viridian::graph {
namespace {

using Table = std::map<std::pair<std::string_view, std::string_view>, const OperatorRow*>;

const Table& table() {
    static const Table rows = [] {
        Table all;
        for (Family* family : families)
            for (const OperatorRow& row : family()) all.emplace(std::pair(row.domain, row.name), &row);
        return all;
    }();
    return rows;
}

Bytes bytes_of(std::span<const TensorType> types) {
    Bytes sum;
    for (const TensorType& type : types) {
        if (type.element == ElementType::undefined) continue;
        std::int64_t count = 1;
        for (const std::int64_t dimension : type.dims()) count *= dimension;
        sum += Bytes(count * size_of(type.element));
    }
    return sum;
}

}  // namespace

const OperatorRow* find_operator(std::string_view domain, std::string_view name) {
    if (domain == "ai.onnx") domain = "";
    const auto found = table().find({domain, name});
    return found == table().end() ? nullptr : found->second;
}

Operator::Operator(std::string_view name, std::string_view domain) : row_(find_operator(domain, name)) {
    if (row_ != nullptr) {
        name_ = row_->name;
        domain_ = row_->domain;
    } else if (!name.empty()) {
        if (domain == "ai.onnx") domain = {};
        text_ = std::make_shared<const std::string>(fmt::format("{}{}", domain, name));
        domain_ = std::string_view(*text_).substr(0, domain.size());
        name_ = std::string_view(*text_).substr(domain.size());
    }
}

std::string Operator::qualified_name() const {
    return domain_.empty() ? std::string(name_) : fmt::format("{}.{}", domain_, name_);
}

std::vector<const OperatorRow*> all_operators() {
    std::vector<const OperatorRow*> all;
    for (Family* family : families)
        for (const OperatorRow& row : family()) all.push_back(&row);
    return all;
}

Flop flop(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    if (row == nullptr) return Flop(0);
    if (row->flop != nullptr) return row->flop(operation);
    if (row->operator_class != OperatorClass::elementwise) return Flop(0);
    std::int64_t count = 1;
    for (const std::int64_t dimension : operation.outputs[0].dims()) count *= dimension;
    return Flop(count);
}

Bytes bytes_read(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    return row != nullptr && row->bytes_read != nullptr ? row->bytes_read(operation)
                                                        : bytes_of(operation.inputs);
}

Bytes bytes_written(const Operation& operation) { return bytes_of(operation.outputs); }

IterationSpace iteration_space(const Operation& operation) {
    const OperatorRow* row = find_operator(operation.node);
    if (row != nullptr && row->iteration_space != nullptr) return row->iteration_space(operation);
    return summed_over(operation, Dims());
}

std::string_view name_of(NumericSafety safety) {
    constexpr std::string_view names[] = {"allow", "infer", "clear", "deny"};
    return names[static_cast<std::size_t>(safety)];
}

}  // namespace viridian::graph
