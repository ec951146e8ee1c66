#include "viridian/rewrite/pattern.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::rewrite {

struct Pattern::Term {
    enum class Kind { any, constant, scalar, number, op, either } kind;
    std::string name;                        // of the value, or empty
    std::optional<graph::KnownOperator> op;  // kind op
    double value = 0;                        // kind number
    std::vector<Pattern> parts;              // inputs, or choices
};

namespace {

using PatternTerm = Pattern::Term;

Pattern pattern_of(PatternTerm term) { return Pattern(std::make_shared<const PatternTerm>(std::move(term))); }

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b)); }

class Matcher {
  public:
    explicit Matcher(const Editor& editor) : editor_(editor) {}

    // Extends `match`, or leaves it as it was.
    bool value(const Pattern& pattern, ValueId id, Match& match) const {
        if (id == ValueId::none) return false;
        const PatternTerm& term = pattern.term();
        Match extended = match;
        if (!term.name.empty()) {
            const auto [entry, fresh] = extended.values.emplace(term.name, id);
            if (!fresh && entry->second != id && !same_constant(entry->second, id)) return false;
        }
        if (!fits(term, id, extended)) return false;
        match = std::move(extended);
        return true;
    }

  private:
    [[nodiscard]] bool same_constant(ValueId a, ValueId b) const {
        const Tensor* first = editor_.constant(a);
        const Tensor* second = editor_.constant(b);
        return first != nullptr && second != nullptr && first->same_bytes(*second);
    }

    bool fits(const PatternTerm& term, ValueId id, Match& match) const {
        switch (term.kind) {
            case PatternTerm::Kind::any:
                return true;
            case PatternTerm::Kind::constant:
                return editor_.constant(id) != nullptr;
            case PatternTerm::Kind::scalar:
                return editor_.scalar(id).has_value();
            case PatternTerm::Kind::number: {
                const auto found = editor_.scalar(id);
                return found && is_near(*found, term.value);
            }
            case PatternTerm::Kind::either:
                return std::any_of(term.parts.begin(), term.parts.end(),
                                   [&](const Pattern& choice) { return value(choice, id, match); });
            case PatternTerm::Kind::op:
                return operation(term, id, match);
        }
        return false;
    }

    bool operation(const PatternTerm& term, ValueId id, Match& match) const {
        const Node* node = editor_.producer(id, *term.op);
        // x / c is often written x · (1/c)
        if (node == nullptr && term.op == op::Div && term.parts[1].term().kind == PatternTerm::Kind::number)
            return fits(PatternTerm{PatternTerm::Kind::op,
                                    {},
                                    op::Mul,
                                    0,
                                    {term.parts[0], Pattern(1 / term.parts[1].term().value)}},
                        id, match);
        if (node == nullptr || node->inputs.size() < term.parts.size()) return false;
        for (std::size_t i = term.parts.size(); i < node->inputs.size(); ++i)
            if (node->inputs[i] != ValueId::none) return false;
        const auto inputs = [&](std::size_t first, std::size_t second) {
            Match extended = match;
            for (std::size_t i = 0; i < term.parts.size(); ++i) {
                const std::size_t from = i == 0 ? first : i == 1 ? second : i;
                if (!value(term.parts[i], node->inputs[from], extended)) return false;
            }
            const NodeId self = editor_.producer_id(id);
            if (std::find(extended.nodes.begin(), extended.nodes.end(), self) == extended.nodes.end())
                extended.nodes.push_back(self);
            match = std::move(extended);
            return true;
        };
        const bool commutes = (term.op == op::Add || term.op == op::Mul) && term.parts.size() == 2;
        return inputs(0, 1) || (commutes && inputs(1, 0));
    }

    const Editor& editor_;
};

}  // namespace

Pattern::Pattern(double value)
    : term_(std::make_shared<const PatternTerm>(PatternTerm{PatternTerm::Kind::number, {}, {}, value, {}})) {}

Pattern Pattern::as(std::string name) const {
    PatternTerm named = *term_;
    named.name = std::move(name);
    return pattern_of(std::move(named));
}

Pattern any(std::string name) { return pattern_of({PatternTerm::Kind::any, std::move(name), {}, 0, {}}); }
Pattern constant(std::string name) {
    return pattern_of({PatternTerm::Kind::constant, std::move(name), {}, 0, {}});
}
Pattern number(std::string name) {
    return pattern_of({PatternTerm::Kind::scalar, std::move(name), {}, 0, {}});
}
Pattern result_of(graph::KnownOperator op, std::vector<Pattern> inputs) {
    return pattern_of({PatternTerm::Kind::op, {}, op, 0, std::move(inputs)});
}
Pattern either(std::vector<Pattern> patterns) {
    return pattern_of({PatternTerm::Kind::either, {}, {}, 0, std::move(patterns)});
}
Pattern operator+(const Pattern& a, const Pattern& b) { return result_of(op::Add, {a, b}); }
Pattern operator-(const Pattern& a, const Pattern& b) { return result_of(op::Sub, {a, b}); }
Pattern operator*(const Pattern& a, const Pattern& b) { return result_of(op::Mul, {a, b}); }
Pattern operator/(const Pattern& a, const Pattern& b) { return result_of(op::Div, {a, b}); }

std::optional<Match> match(const Editor& editor, const Pattern& pattern, NodeId at) {
    const Node& last = editor.node(at);
    Match found;
    if (last.outputs.empty() || !Matcher(editor).value(pattern, last.outputs[0], found)) return std::nullopt;
    const auto inside = [&](NodeId id) {
        return std::find(found.nodes.begin(), found.nodes.end(), id) != found.nodes.end();
    };
    for (const NodeId id : found.nodes) {
        if (id == at) continue;
        for (const ValueId output : editor.node(id).outputs) {
            if (output == ValueId::none) continue;
            const std::span<const NodeId> readers = editor.readers(output);
            if (editor.is_output(output) || !std::all_of(readers.begin(), readers.end(), inside))
                return std::nullopt;
        }
    }
    return found;
}

}  // namespace viridian::rewrite
