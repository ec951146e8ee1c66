#include "viridian/rewrite/pattern.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::rewrite {

struct Pattern::Term {
    enum class Kind { any, constant, scalar, number, op, either } kind;
    std::string name;            // of the value, or empty
    std::string op;              // kind op
    double value = 0;            // kind number
    std::vector<Pattern> parts;  // inputs, or choices
};

namespace {

using Term = Pattern::Term;

Pattern make(Term term) { return Pattern(std::make_shared<const Term>(std::move(term))); }

bool near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b)); }

class Matcher {
  public:
    explicit Matcher(const Editor& editor) : editor_(editor) {}

    // Extends `match`, or leaves it as it was.
    bool value(const Pattern& pattern, ValueId id, Match& match) const {
        if (id == ValueId::none) return false;
        const Term& term = pattern.term();
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

    bool fits(const Term& term, ValueId id, Match& match) const {
        switch (term.kind) {
            case Term::Kind::any:
                return true;
            case Term::Kind::constant:
                return editor_.constant(id) != nullptr;
            case Term::Kind::scalar:
                return editor_.scalar(id).has_value();
            case Term::Kind::number: {
                const auto found = editor_.scalar(id);
                return found && near(*found, term.value);
            }
            case Term::Kind::either:
                return std::any_of(term.parts.begin(), term.parts.end(),
                                   [&](const Pattern& choice) { return value(choice, id, match); });
            case Term::Kind::op:
                return operation(term, id, match);
        }
        return false;
    }

    bool operation(const Term& term, ValueId id, Match& match) const {
        const Node* node = editor_.producer(id, term.op);
        // x / c is often written x · (1/c)
        if (node == nullptr && term.op == "Div" && term.parts[1].term().kind == Term::Kind::number)
            return fits(
                Term{Term::Kind::op, {}, "Mul", 0, {term.parts[0], Pattern(1 / term.parts[1].term().value)}},
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
        const bool commutes = (term.op == "Add" || term.op == "Mul") && term.parts.size() == 2;
        return inputs(0, 1) || (commutes && inputs(1, 0));
    }

    const Editor& editor_;
};

}  // namespace

Pattern::Pattern(double value)
    : term_(std::make_shared<const Term>(Term{Term::Kind::number, {}, {}, value, {}})) {}

Pattern Pattern::as(std::string name) const {
    Term named = *term_;
    named.name = std::move(name);
    return make(std::move(named));
}

Pattern any(std::string name) { return make({Term::Kind::any, std::move(name), {}, 0, {}}); }
Pattern constant(std::string name) { return make({Term::Kind::constant, std::move(name), {}, 0, {}}); }
Pattern number(std::string name) { return make({Term::Kind::scalar, std::move(name), {}, 0, {}}); }
Pattern op(std::string name, std::vector<Pattern> inputs) {
    return make({Term::Kind::op, {}, std::move(name), 0, std::move(inputs)});
}
Pattern either(std::vector<Pattern> patterns) {
    return make({Term::Kind::either, {}, {}, 0, std::move(patterns)});
}
Pattern operator+(const Pattern& a, const Pattern& b) { return op("Add", {a, b}); }
Pattern operator-(const Pattern& a, const Pattern& b) { return op("Sub", {a, b}); }
Pattern operator*(const Pattern& a, const Pattern& b) { return op("Mul", {a, b}); }
Pattern operator/(const Pattern& a, const Pattern& b) { return op("Div", {a, b}); }

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
            const std::vector<NodeId>& readers = editor.readers(output);
            if (editor.is_output(output) || !std::all_of(readers.begin(), readers.end(), inside))
                return std::nullopt;
        }
    }
    return found;
}

}  // namespace viridian::rewrite
