#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "viridian/search/objective/objective.hpp"

namespace viridian::search {
namespace {

constexpr std::array metrics = {Metric::time, Metric::energy, Metric::power,
                                Metric::flop, Metric::bytes,  Metric::kernels};
constexpr int deepest = 32;  // parentheses and signs
constexpr std::size_t longest = 2000;

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<Objective> objective() {
        Objective out;
        out.terms.clear();
        do {
            VIRIDIAN_TRY(const Objective::Term next, term(out));
            out.terms.push_back(next);
        } while (accept(out.form == Objective::Form::product ? '*' : '+'));
        if (peek() == '@') {
            VIRIDIAN_TRY(out.limit, limit());
        }
        skip_spaces();
        if (at_ != text_.size()) return wrong("this was not expected");
        const auto all = [&](auto what) { return std::ranges::all_of(out.terms, what); };
        if (all([](const auto& t) { return t.factor == 0; }))
            return wrong_at(0, "nothing is left to minimise: every factor is 0");
        if (!out.limit && all([](const auto& t) { return t.factor == 0 || t.metric == Metric::power; }))
            out.limit = Objective::Limit{Metric::time, 3};
        return out;
    }

  private:
    Result<Objective::Term> term(Objective& out) {
        Objective::Term term;
        const bool first = out.terms.empty();
        if (starts_number() && (first || out.form == Objective::Form::sum)) {
            VIRIDIAN_TRY(term.factor, coefficient());
        }
        skip_spaces();
        const std::size_t from = at_;
        VIRIDIAN_TRY(term.metric, metric());
        if (std::ranges::find(out.terms, term.metric, &Objective::Term::metric) != out.terms.end())
            return wrong_at(from, "this metric is there already");
        if (first && peek() == '^') out.form = Objective::Form::product;
        if (out.form == Objective::Form::product) {
            if (term.factor != 1) return wrong("a product takes no coefficient");
            if (!accept('^')) return wrong("`^` and an exponent are missing");
            skip_spaces();
            const std::size_t exponent = at_;
            VIRIDIAN_TRY(term.factor, factor(0));
            if (!usable(term.factor)) return wrong_at(exponent, "an exponent is 0 or more, and finite");
        }
        return term;
    }

    Result<Objective::Limit> limit() {
        Objective::Limit limit;
        if (!accept('@')) return wrong("`@` is missing");
        VIRIDIAN_TRY(limit.metric, metric());
        if (!accept('<') || !accept('=')) return wrong("`<=` is missing");
        skip_spaces();
        const std::size_t from = at_;
        VIRIDIAN_TRY(limit.factor, factor(0));
        if (!usable(limit.factor) || limit.factor == 0)
            return wrong_at(from, "a limit is above 0, and finite");
        if (!accept('x')) return wrong("`x` (times the starting plan's) is missing");
        return limit;
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

    // Up to the metric: factor { ("*"|"/") factor } "*".
    Result<double> coefficient() {
        skip_spaces();
        const std::size_t from = at_;
        VIRIDIAN_TRY(double result, factor(0));
        for (;;) {
            if (accept('/')) {
                VIRIDIAN_TRY(const double other, factor(0));
                result /= other;
            } else if (!accept('*')) {
                return wrong("`*` and a metric are missing");
            } else if (starts_number()) {
                VIRIDIAN_TRY(const double other, factor(0));
                result *= other;
            } else {
                break;
            }
        }
        if (!usable(result)) return wrong_at(from, "a coefficient is 0 or more, and finite");
        return result;
    }

    // product { ("+"|"-") product }
    Result<double> sum(int depth) {
        VIRIDIAN_TRY(double result, product(depth));
        for (;;) {
            const bool plus = accept('+');
            if (!plus && !accept('-')) return result;
            VIRIDIAN_TRY(const double other, product(depth));
            result += plus ? other : -other;
        }
    }

    // factor { ("*"|"/") factor }
    Result<double> product(int depth) {
        VIRIDIAN_TRY(double result, factor(depth));
        for (;;) {
            const bool times = accept('*');
            if (!times && !accept('/')) return result;
            VIRIDIAN_TRY(const double other, factor(depth));
            result = times ? result * other : result / other;
        }
    }

    // digits | "(" sum ")" | "-" factor
    Result<double> factor(int depth) {
        if (depth >= deepest) return wrong("too many parentheses");
        if (accept('-')) {
            VIRIDIAN_TRY(const double value, factor(depth + 1));
            return -value;
        }
        if (accept('(')) {
            VIRIDIAN_TRY(const double value, sum(depth + 1));
            if (!accept(')')) return wrong("`)` is missing");
            return value;
        }
        if (!starts_number()) return wrong("a number is missing");
        double value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) return wrong("this number is too large or too small");
        if (error != std::errc{}) return wrong("a number is missing");
        at_ += static_cast<std::size_t>(end - begin);
        return value;
    }

    static bool usable(double factor) { return factor >= 0 && std::isfinite(factor); }
    bool starts_number() {
        const char c = peek();
        return c == '(' || c == '-' || c == '.' || is_digit(c);
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

    Error wrong(std::string_view what) const { return wrong_at(at_, what); }
    Error wrong_at(std::size_t place, std::string_view what) const {
        std::string shown(text_);
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
        return fail(ErrorCode::invalid_argument,
                    "say, for example, `time`, `0.3*energy+0.7*time`, `energy^0.5*time^0.5` or "
                    "`energy @ time<=1.02x`",
                    "the objective is not understood: {}\n    {}\n    {}^", what, shown,
                    std::string(place, ' '));
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
