#include "viridian/pipeline/formats/megatron_layout.hpp"

namespace viridian::pipeline {
namespace {

constexpr std::size_t most_layers = 1'000'000;

class MegatronLayoutParser {
  public:
    explicit MegatronLayoutParser(std::string_view text) : text_(text) {}

    // Expands until `)` or the end.
    Result<std::string> sequence(int depth) {
        std::string out;
        if (depth > 32) return wrong("brackets nest too deeply");
        while (position_ < text_.size() && text_[position_] != ')') {
            const char c = text_[position_++];
            std::string part;
            if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
            if (c == '(') {
                VIRIDIAN_TRY(part, sequence(depth + 1));
                if (position_ == text_.size()) return wrong("a bracket is not closed");
                ++position_;
            } else if (std::string_view("EtmL|").find(c) != std::string_view::npos) {
                part = std::string(1, c);
            } else {
                return wrong(fmt::format("`{}` is not a layer", c));
            }
            VIRIDIAN_TRY(const std::size_t times, repeat());
            if (out.size() + part.size() * times > most_layers)
                return fail(ErrorCode::limit_exceeded, "write fewer repetitions",
                            "the layout has more than a million layers");
            for (std::size_t i = 0; i < times; ++i) out += part;
        }
        return out;
    }
    [[nodiscard]] bool ended() const { return position_ == text_.size(); }
    [[nodiscard]] Error wrong(std::string_view what) const {
        return fail(ErrorCode::malformed, "write as Et*2|(t*2|)*34,t*2|L",
                    "the layout is wrong at character {}: {}", position_, what);
    }

  private:
    Result<std::size_t> repeat() {
        if (position_ == text_.size() || text_[position_] != '*') return std::size_t{1};
        ++position_;
        std::size_t times = 0, digits = 0;
        while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9' && digits < 8) {
            times = times * 10 + static_cast<std::size_t>(text_[position_++] - '0');
            ++digits;
        }
        if (digits == 0 || times == 0) return wrong("a repetition of 1 or more expected");
        return times;
    }

    std::string_view text_;
    std::size_t position_ = 0;
};

std::string runs(const std::string& stage) {
    std::string out;
    for (std::size_t i = 0; i < stage.size();) {
        std::size_t end = i;
        while (end < stage.size() && stage[end] == stage[i]) ++end;
        out += end - i > 1 ? fmt::format("{}*{}", stage[i], end - i) : std::string(1, stage[i]);
        i = end;
    }
    return out;
}

}  // namespace

Result<std::vector<std::string>> read_megatron_layout(std::string_view text) {
    MegatronLayoutParser parser(text);
    VIRIDIAN_TRY(const std::string expanded, parser.sequence(0));
    if (!parser.ended()) return parser.wrong("a bracket closes that was never opened");
    std::vector<std::string> stages(1);
    for (const char c : expanded)
        if (c == '|')
            stages.emplace_back();
        else
            stages.back() += c;
    return stages;
}

std::string write_megatron_layout(const std::vector<std::string>& stages) {
    std::string out;
    for (std::size_t i = 0; i < stages.size();) {
        std::size_t end = i;
        while (end + 1 < stages.size() && stages[end] == stages[i]) ++end;  // the last stage has no `|`
        if (end - i > 1) {
            out += fmt::format("({}|)*{}", runs(stages[i]), end - i);
            i = end;
        } else {
            out += runs(stages[i]) + (i + 1 < stages.size() ? "|" : "");
            ++i;
        }
    }
    return out;
}

}  // namespace viridian::pipeline
