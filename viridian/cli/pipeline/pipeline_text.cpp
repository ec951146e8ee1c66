#include "viridian/cli/pipeline/pipeline_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "viridian/base/units_text.hpp"

namespace viridian::cli {

using namespace pipeline;

namespace {

std::string extent_text(const PlanResult& plan) {
    return fmt::format("{} on {}", counted(plan.stages, "stage"), counted(plan.ranks.size(), "rank"));
}

std::string totals_text(const PlanResult& plan) {
    const auto percent = [](double ratio) { return fmt::format("{:+.2f} %", (ratio - 1) * 100); };
    std::string text = fmt::format("  time    {:.6f} s   {} against full clocks\n", plan.time.value,
                                   percent(plan.time / plan.maximum_time));
    text += fmt::format("  energy  {:.3f} J   {} against full clocks   ({}; {:.3f} J of it waiting)\n",
                        plan.energy.value, percent(plan.energy / plan.maximum_energy), plan.provenance.text(),
                        plan.waiting_energy.value);
    return text +
           fmt::format("  clocks  {}\n", plan.clocks_per_unit == 1
                                             ? "one in each unit"
                                             : "up to two in turn in each unit; changes count as free");
}

double gap_percent(const PlanResult& plan) {
    return std::max(0.0, plan.energy.value / plan.bound->value - 1) * 100;
}

std::string ranks_text(const PlanResult& plan) {
    std::string text = "  rank      busy s   waiting s   bubbles usable/unusable   switches   memory peak\n";
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        const RankResult& rank = plan.ranks[r];
        const std::string memory =
            rank.memory_peak.value > 0
                ? fmt::format("{:.3f} GB", static_cast<double>(rank.memory_peak.value) * 1e-9)
                : fmt::format("{} in flight", rank.most_in_flight);
        text += fmt::format("  {:>4}  {:>10.6f}  {:>10.6f}   {:>5} / {:<5} {:.4f} s usable   {:>5}   {}\n", r,
                            rank.busy.value, rank.waiting.value, rank.usable_bubbles, rank.unusable_bubbles,
                            rank.usable_time.value, rank.clock_switches, memory);
    }
    for (const std::string& note : plan.notes) text += "  note: " + note + "\n";
    return text;
}

}  // namespace

std::string plan_text(const PlanResult& plan) {
    std::string text = fmt::format("{} × {}, {}, planner {}\n", plan.schedule,
                                   counted(plan.micro_batches, "micro-batch", "micro-batches"),
                                   extent_text(plan), plan.planner) +
                       totals_text(plan);
    if (plan.certificate)
        text += fmt::format("  certificate  at {:.6f} s: primal {} = dual {} attojoules above waiting{}\n",
                            plan.certificate->time.value, plan.certificate->primal, plan.certificate->dual,
                            plan.certificate->optimal ? ", proven" : " DIFFER");
    if (plan.bound)
        text += fmt::format("  bound   {:.3f} J   gap {:.4f} %{}\n", plan.bound->value, gap_percent(plan),
                            plan.exact                  ? ", exact"
                            : plan.clocks_per_unit == 1 ? ", against plans with two clocks in a unit"
                                                        : "");
    if (plan.iterations > 0) text += fmt::format("  iterations  {}\n", plan.iterations);
    return text + ranks_text(plan);
}

std::string check_text(const PlanResult& plan, std::string_view file, std::string_view format) {
    std::string text =
        fmt::format("`{}` ({}) can run: {}, {}\n", file, format,
                    counted(plan.micro_batches, "micro-batch", "micro-batches"), extent_text(plan)) +
        totals_text(plan);
    if (plan.bound)
        text += fmt::format(
            "  optimum {:.3f} J by the same time, with two clocks in a unit; this plan {}\n",
            plan.bound->value,
            gap_percent(plan) < 5e-5 ? "meets it" : fmt::format("needs {:.4f} % more", gap_percent(plan)));
    if (plan.certificate)
        text += fmt::format("  proof   of the optimum: primal {} = dual {} attojoules above waiting{}\n",
                            plan.certificate->primal, plan.certificate->dual,
                            plan.certificate->optimal ? "" : " DIFFER");
    return text + ranks_text(plan);
}

std::string frontier_text(const FrontierResult& frontier) {
    std::string text = fmt::format(
        "{} × {}, {}: {} ({} past the cheapest), {} certified, {:.3f} s; energies {}\n", frontier.schedule,
        counted(frontier.micro_batches, "micro-batch", "micro-batches"), counted(frontier.stages, "stage"),
        counted(frontier.points.size() + frontier.beyond.size(), "breakpoint"), frontier.beyond.size(),
        frontier.certified, frontier.elapsed.value, frontier.provenance.text());
    text +=
        "  a unit may run at two clocks in turn, and changes count as free; `plan --clocks whole` allows "
        "one\n";
    text += "        time s        energy J\n";
    const std::size_t shown = 20, count = frontier.points.size();
    const std::size_t step = std::max<std::size_t>(1, (count + shown - 1) / shown);
    for (std::size_t i = 0; i < count; i += step)
        text += fmt::format("  {:>12.6f}  {:>14.4f}\n", frontier.points[i].time.value,
                            frontier.points[i].energy.value);
    if ((count - 1) % step != 0)
        text += fmt::format("  {:>12.6f}  {:>14.4f}\n", frontier.points.back().time.value,
                            frontier.points.back().energy.value);
    if (step > 1) text += fmt::format("  (one in {} is shown; --json prints all)\n", step);
    for (const auto& [name, point] : frontier.planners)
        text += fmt::format("  {:>12.6f}  {:>14.4f}  {}\n", point.time.value, point.energy.value, name);
    return text;
}

}  // namespace viridian::cli
