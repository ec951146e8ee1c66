#include <array>
#include <charconv>
#include <cmath>

#include "viridian/search/objective.hpp"

namespace viridian::search {
namespace {

constexpr std::array metrics = {Metric::time, Metric::energy, Metric::power,
                                Metric::flop, Metric::bytes,  Metric::kernels};
constexpr int deepest = 32;  // parentheses
// A term is written in at most 33 characters: whatever was read can be read again from its text().
constexpr std::size_t most_terms = 32;
constexpr std::size_t longest = 2000;

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<Objective> objective() {
        Objective out;
        out.terms.clear();
        VIRIDIAN_TRY(const Objective::Term first, term(out, true));
        out.terms.push_back(first);
        const char joint = out.form == Objective::Form::product ? '*' : '+';
        while (accept(joint)) {
            if (out.terms.size() == most_terms) return wrong("too many terms");
            VIRIDIAN_TRY(const Objective::Term next, term(out, false));
            out.terms.push_back(next);
        }
        if (accept('@')) {
            Objective::Limit limit;
            VIRIDIAN_TRY(limit.metric, metric());
            if (!accept('<') || !accept('=')) return wrong("`<=` is missing");
            VIRIDIAN_TRY(limit.factor, number(0));
            if (limit.factor <= 0) return wrong("a limit must be above 0");
            if (!accept('x')) return wrong("`x` (times the starting plan's) is missing");
            out.limit = limit;
        }
        skip_spaces();
        if (at_ != text_.size()) return wrong("this was not expected");
        if (!out.limit && out.terms.size() == 1 && out.terms[0].metric == Metric::power)
            out.limit = Objective::Limit{Metric::time, 3};
        return out;
    }

  private:
    Result<Objective::Term> term(Objective& out, bool first) {
        Objective::Term term;
        skip_spaces();
        const bool product = !first && out.form == Objective::Form::product;
        if (!product && (peek() == '(' || peek() == '.' || is_digit(peek()))) {
            VIRIDIAN_TRY(term.factor, number(0));
            if (!accept('*')) return wrong("`*` and a metric are missing");
            VIRIDIAN_TRY(term.metric, metric());
            return term;
        }
        VIRIDIAN_TRY(term.metric, metric());
        if (first && peek() == '^') out.form = Objective::Form::product;
        if (out.form == Objective::Form::product) {
            if (!accept('^')) return wrong("`^` and an exponent are missing");
            VIRIDIAN_TRY(term.factor, number(0));
        }
        return term;
    }

    Result<Metric> metric() {
        skip_spaces();
        std::size_t end = at_;
        while (end < text_.size() && text_[end] >= 'a' && text_[end] <= 'z') ++end;
        for (const Metric m : metrics)
            if (text_.substr(at_, end - at_) == name_of(m)) {
                at_ = end;
                return m;
            }
        return wrong("a metric is missing: time, energy, power, flop, bytes or kernels");
    }

    // Not negative, finite.
    Result<double> number(int depth) {
        skip_spaces();
        const std::size_t from = at_;
        double result = 0;
        if (accept('(')) {
            if (depth >= deepest) return wrong("too many parentheses");
            VIRIDIAN_TRY(result, number(depth + 1));
            for (;;) {
                if (accept(')')) break;
                const char operation = peek();
                if (operation != '+' && operation != '-' && operation != '*' && operation != '/')
                    return wrong("`)` is missing");
                ++at_;
                VIRIDIAN_TRY(const double other, number(depth + 1));
                result = operation == '+'   ? result + other
                         : operation == '-' ? result - other
                         : operation == '*' ? result * other
                                            : result / other;
            }
        } else {
            const char* begin = text_.data() + at_;
            const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), result);
            if (error != std::errc{}) return wrong("a number is missing");
            at_ += static_cast<std::size_t>(end - begin);
        }
        if (!(result >= 0) || !std::isfinite(result)) {
            at_ = from;
            return wrong("this number is negative or too large");
        }
        return result;
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    char peek() {
        skip_spaces();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char c) {
        if (peek() != c || c == '\0') return false;
        ++at_;
        return true;
    }

    Error wrong(std::string_view what) const {
        std::string shown(text_);
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
        return fail(ErrorCode::invalid_argument,
                    "say, for example, `time`, `0.3*energy+0.7*time`, `energy^0.5*time^0.5` or "
                    "`energy @ time<=1.02x`",
                    "the objective is not understood: {}\n    {}\n    {}^", what, shown,
                    std::string(at_, ' '));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<Objective> parse_objective(std::string_view text) {
    if (text.size() > longest)
        return fail(ErrorCode::invalid_argument, "say, for example, `energy @ time<=1.02x`",
                    "the objective has {} characters; at most {} are read", text.size(), longest);
    return Parser(text).objective();
}

}  // namespace viridian::search
