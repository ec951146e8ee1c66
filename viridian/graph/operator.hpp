#pragma once
// An Operator says which operator a node is: a name in a domain. Code compares it with the constants of
// `viridian/graph/operators/names.hpp`, so that a misspelt name does not compile:
//
//     if (node.op == op::Conv) …
//
// Operators of foreign domains, which have no row, are carried along by their name.
#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace viridian::graph {

struct OperatorRow;

// A KnownOperator is the name of an operator that the code knows. All constants of this type are in
// `names.hpp`.
class KnownOperator {
  public:
    consteval explicit KnownOperator(const char* name, const char* domain = "")
        : name_(name), domain_(domain) {}
    [[nodiscard]] constexpr std::string_view name() const { return name_; }
    [[nodiscard]] constexpr std::string_view domain() const { return domain_; }
    constexpr bool operator==(const KnownOperator&) const = default;

  private:
    std::string_view name_, domain_;
};

class Operator {
  public:
    Operator() = default;  // no operator: an empty name
    // `domain` is "" for the standard operators of ONNX; "ai.onnx" means the same.
    Operator(std::string_view name, std::string_view domain = {});
    Operator(const std::string& name) : Operator(std::string_view(name)) {}
    Operator(const char* name) : Operator(std::string_view(name)) {}
    Operator(KnownOperator known) : Operator(known.name(), known.domain()) {}

    [[nodiscard]] std::string_view name() const { return name_; }
    [[nodiscard]] std::string_view domain() const { return domain_; }
    // Returns the name with its domain: "Conv", or "com.microsoft.FusedConv" outside ai.onnx.
    [[nodiscard]] std::string qualified_name() const;
    // Returns the row of the operator table, or null if there is none.
    [[nodiscard]] const OperatorRow* row() const { return row_; }

    friend bool operator==(const Operator& a, const Operator& b) {
        return a.name_ == b.name_ && a.domain_ == b.domain_;
    }
    friend bool operator==(const Operator& a, KnownOperator b) {
        return a.name_ == b.name() && a.domain_ == b.domain();
    }
    // A comparison with text could be misspelt: compare with a constant, or compare name().
    template <class Text>
        requires std::convertible_to<Text, std::string_view>
    friend bool operator==(const Operator&, const Text&) = delete;

  private:
    std::string_view name_, domain_;  // of the row, or of `text_`
    const OperatorRow* row_ = nullptr;
    std::shared_ptr<const std::string> text_;  // domain and name of an operator without a row
};

}  // namespace viridian::graph

// Formats an operator as its name.
template <>
struct fmt::formatter<viridian::graph::Operator> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const viridian::graph::Operator& op, Context& context) const {
        return fmt::formatter<std::string_view>::format(op.name(), context);
    }
};
