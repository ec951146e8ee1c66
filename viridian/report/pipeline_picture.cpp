#include "viridian/report/pipeline_picture.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace viridian::report {
namespace {

constexpr std::string_view style =
    "<style>text{font:11px system-ui,sans-serif;fill:#1c2321;stroke:none}.soft{fill:#5c6b66}"
    ".critical{stroke:#111;stroke-width:1.6}.unit{stroke:#fff;stroke-width:.4}</style>";

// Low clocks blue, high clocks red, yellow between.
std::string colour(double share) {
    constexpr std::array<std::array<double, 3>, 4> stops = {
        {{69, 117, 180}, {145, 191, 219}, {254, 224, 144}, {215, 90, 70}}};
    const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
    const std::size_t i = std::min<std::size_t>(static_cast<std::size_t>(place), stops.size() - 2);
    const auto mix = [&](std::size_t c) {
        return static_cast<int>(std::lround(stops.at(i).at(c) + (stops.at(i + 1).at(c) - stops.at(i).at(c)) *
                                                                    (place - static_cast<double>(i))));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

struct Bar {
    double start, duration, clock, second_clock, second_after, slack;
    bool critical;
    char letter;
    int micro_batch;
};

std::vector<std::vector<Bar>> bars_of(const Json& plan) {
    std::vector<std::vector<Bar>> ranks;
    for (const Json& rank : plan.at("schedule")) {
        auto& units = ranks.emplace_back();
        for (const Json& u : rank) {
            const auto kind = u.at("kind").get<std::string>();
            units.push_back({u.at("start").get<double>(), u.at("duration").get<double>(),
                             u.value("clock_mhz", 0.0), u.value("second_clock_mhz", 0.0),
                             u.value("second_after", 0.0), u.value("slack", 0.0), u.value("critical", false),
                             kind.empty() ? '?' : static_cast<char>(std::toupper(kind[0])),
                             u.at("micro_batch").get<int>()});
        }
    }
    return ranks;
}

std::string rectangle(double x, double y, double w, double h, std::string_view attributes,
                      std::string_view title = "") {
    return fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" {}{}\n", x, y,
                       std::max(0.0, w), h, attributes,
                       title.empty() ? "/>" : fmt::format("><title>{}</title></rect>", title));
}

std::string text(double x, double y, std::string_view words, std::string_view attributes = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, words);
}

std::string draw_schedule(const Json& plan) {
    const std::vector<std::vector<Bar>> ranks = bars_of(plan);
    double end = 1e-12, low = 1e300, high = 0;
    for (const auto& rank : ranks)
        for (const Bar& u : rank) {
            end = std::max(end, u.start + u.duration);
            if (u.clock > 0) low = std::min(low, u.clock), high = std::max({high, u.clock, u.second_clock});
        }
    const auto fill = [&](double clock) {
        return clock <= 0 ? std::string("#b8a4d6") : colour(high > low ? (clock - low) / (high - low) : 1);
    };
    constexpr double left = 60, width = 1100, row = 26, top = 24;
    const double scale = width / end, height = top + row * static_cast<double>(ranks.size()) + 60;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1180 {:.0f}\" role=\"img\" "
        "aria-label=\"pipeline schedule\">{}<defs><pattern id=\"usable\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"6\" "
        "height=\"6\" fill=\"#e4f3ea\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#7fc4a0\" "
        "stroke-width=\"2\"/></pattern></defs>",
        height, style);
    out += rectangle(0, 0, 1180, height, "fill=\"#ffffff\"");
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const double y = top + row * static_cast<double>(r);
        out += text(4, y + 16, fmt::format("rank {}", r));
        out += rectangle(left, y, width, row - 4, "fill=\"#eceeed\"");
        for (std::size_t i = 0; i < ranks[r].size(); ++i) {
            const Bar& u = ranks[r][i];
            const double x = left + u.start * scale, w = u.duration * scale;
            const double next = i + 1 < ranks[r].size() ? ranks[r][i + 1].start : end;
            if (const double usable = std::min(u.slack, next - u.start - u.duration); usable > 0)
                out += rectangle(x + w, y, usable * scale, row - 4, "fill=\"url(#usable)\"");
            const std::string title = fmt::format(
                "{}{} {:.6f}-{:.6f} s, {:g} MHz{}", u.letter, u.micro_batch, u.start, u.start + u.duration,
                u.clock, u.second_clock > 0 ? fmt::format(" then {:g} MHz", u.second_clock) : "");
            const std::string look =
                fmt::format("fill=\"{}\" class=\"{}\"", fill(u.clock), u.critical ? "critical" : "unit");
            out += rectangle(x, y, w, row - 4, look, title);
            if (u.second_clock > 0)
                out += rectangle(x + u.second_after * scale, y + 1, w - u.second_after * scale, row - 6,
                                 fmt::format("fill=\"{}\"", fill(u.second_clock)));
            if (u.letter == 'F' && w > 3)  // forwards carry a bar on top: told from backwards without colour
                out += rectangle(x, y, w, 3, "fill=\"#1c2321\" fill-opacity=\".55\"");
            if (w > 16)
                out += text(x + w / 2, y + 16, fmt::format("{}", u.micro_batch), "text-anchor=\"middle\"");
        }
    }
    const double y = height - 44;
    for (int i = 0; i <= 8; ++i)
        out += text(left + width * i / 8, y, fmt::format("{:.4g} s", end * i / 8),
                    "class=\"soft\" text-anchor=\"middle\"");
    double x = left;
    const auto key = [&](std::string_view look, const std::string& words) {
        out += rectangle(x, y + 14, 14, 12, look);
        out += text(x + 19, y + 24, words);
        x += 32 + 6.2 * static_cast<double>(words.size());
    };
    if (high > 0) {
        for (int i = 0; i <= (high > low ? 3 : 0); ++i) {
            const double clock = high > low ? low + (high - low) * i / 3 : high;
            key(fmt::format("fill=\"{}\"", fill(clock)), fmt::format("{:.0f} MHz", clock));
        }
    }
    key("fill=\"#ffffff\" class=\"critical\"", "critical path");
    key("fill=\"url(#usable)\"", "usable bubble");
    key("fill=\"#eceeed\"", "unusable bubble");
    key("fill=\"#1c2321\" fill-opacity=\".55\"", "forward (bar on top)");
    return out + "</svg>\n";
}

struct Pair {
    double time, energy;
};
std::vector<Pair> pairs_of(const Json& holder, const char* key) {
    std::vector<Pair> out;
    if (holder.contains(key))
        for (const Json& p : holder.at(key))
            out.push_back({p.at("time").get<double>(), p.at("energy").get<double>()});
    return out;
}

std::string draw_frontier(const Json& frontier) {
    const std::vector<Pair> points = pairs_of(frontier, "frontier"), beyond = pairs_of(frontier, "beyond"),
                            planners = pairs_of(frontier, "planners");
    if (points.empty()) throw Json::other_error::create(600, "no frontier", nullptr);
    Pair low = points[0], high = points[0];
    const auto stretch = [&](const Pair& p) {
        low = {std::min(low.time, p.time), std::min(low.energy, p.energy)};
        high = {std::max(high.time, p.time), std::max(high.energy, p.energy)};
    };
    for (const auto* list : {&points, &beyond, &planners})
        for (const Pair& p : *list) stretch(p);
    const double dt = std::max(high.time - low.time, 1e-9 + high.time * 1e-6);
    const double de = std::max(high.energy - low.energy, 1e-9 + std::abs(high.energy) * 1e-6);
    constexpr double left = 80, top = 20, width = 640, height = 340;
    const auto x = [&](double t) { return left + (t - low.time + 0.03 * dt) / (1.06 * dt) * width; };
    const auto y = [&](double e) {
        return top + height - (e - low.energy + 0.03 * de) / (1.06 * de) * height;
    };
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 410\" role=\"img\" "
        "aria-label=\"time-energy frontier\">{}",
        style);
    out += rectangle(0, 0, 780, 410, "fill=\"#ffffff\"");
    out += rectangle(left, top, width, height, "fill=\"none\" stroke=\"#d9e0dd\"");
    for (int i = 0; i <= 4; ++i) {
        const double t = low.time + dt * i / 4, e = low.energy + de * i / 4;
        out += text(x(t), top + height + 16, fmt::format("{:.4g} s", t),
                    "class=\"soft\" text-anchor=\"middle\"");
        out += text(left - 6, y(e) + 4, fmt::format("{:.5g} J", e), "class=\"soft\" text-anchor=\"end\"");
    }
    const auto line = [&](const std::vector<Pair>& list, std::string_view look) {
        out += "<polyline fill=\"none\" " + std::string(look) + " points=\"";
        for (const Pair& p : list) out += fmt::format("{:.2f},{:.2f} ", x(p.time), y(p.energy));
        out += "\"/>\n";
    };
    if (!beyond.empty()) {
        std::vector<Pair> tail = {points.back()};
        tail.insert(tail.end(), beyond.begin(), beyond.end());
        line(tail, "stroke=\"#9aa8a2\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\"");
    }
    line(points, "stroke=\"#1f8a5b\" stroke-width=\"2.5\"");
    if (points.size() <= 80)
        for (const Pair& p : points)
            out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2.2\" fill=\"#1f8a5b\"/>\n",
                               x(p.time), y(p.energy));
    for (std::size_t i = 0; i < planners.size(); ++i) {
        const auto name = frontier.at("planners").at(i).at("planner").get<std::string>();
        const double px = x(planners[i].time), py = y(planners[i].energy);
        out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\" fill=\"#c4562f\"/>\n", px, py);
        std::string safe;
        for (const char c : name)
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ' ') safe += c;
        const bool right = px > left + width - 120;
        out += text(px + (right ? -7 : 7), py - 5 + 12 * static_cast<double>(i % 2), safe,
                    right ? "text-anchor=\"end\"" : "");
    }
    out += text(left, top + height + 34,
                "every breakpoint of the exact frontier; dashed: slower and dearer, for when others end "
                "later anyway");
    return out + "</svg>\n";
}

template <class Draw>
Result<std::string> guarded(const Draw& draw) {
    try {
        return draw();
    } catch (const Json::exception& wrong) {
        return fail(ErrorCode::malformed,
                    "give a file written by `viridian pipeline plan` or `frontier` with --json",
                    "this is no pipeline result that can be drawn ({})", wrong.what());
    }
}

}  // namespace

Result<std::string> schedule_picture(const Json& plan) {
    return guarded([&]() -> Result<std::string> {
        constexpr std::size_t most = 40'000;
        std::size_t units = 0;
        for (const Json& rank : plan.at("schedule")) units += rank.size();
        if (units > most)
            return fail(ErrorCode::limit_exceeded, "draw fewer stages or micro-batches",
                        "{} units make no readable picture", units);
        return draw_schedule(plan);
    });
}

Result<std::string> frontier_picture(const Json& frontier) {
    return guarded([&]() -> Result<std::string> { return draw_frontier(frontier); });
}

}  // namespace viridian::report
