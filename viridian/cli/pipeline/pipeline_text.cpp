#include "viridian/cli/pipeline/pipeline_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace viridian::cli {

using namespace pipeline;

std::string plan_text(const PlanResult& plan) {
    const auto percent = [](double ratio) { return fmt::format("{:+.2f} %", (ratio - 1) * 100); };
    std::string text =
        fmt::format("{} × {} micro-batches, {} stages on {} ranks, planner {}\n", plan.schedule,
                    plan.micro_batches, plan.stages, plan.ranks.size(), plan.planner);
    text += fmt::format("  time    {:.6f} s   {} against full clocks\n", plan.time.value,
                        percent(plan.time / plan.maximum_time));
    text += fmt::format("  energy  {:.3f} J   {} against full clocks   ({}; {:.3f} J of it waiting)\n",
                        plan.energy.value, percent(plan.energy / plan.maximum_energy), plan.provenance.text(),
                        plan.waiting_energy.value);
    if (plan.certificate)
        text += fmt::format("  certificate  at {:.6f} s: primal {} = dual {} attojoules above waiting{}\n",
                            plan.certificate->time.value, plan.certificate->primal, plan.certificate->dual,
                            plan.certificate->optimal ? ", proven" : " DIFFER");
    if (plan.bound)
        text += fmt::format("  bound   {:.3f} J   gap {:.4f} %{}\n", plan.bound->value,
                            std::max(0.0, plan.energy.value / plan.bound->value - 1) * 100,
                            plan.exact ? ", exact" : "");
    if (plan.iterations > 0) text += fmt::format("  iterations  {}\n", plan.iterations);
    text += "  rank      busy s   waiting s   bubbles usable/unusable   switches   memory peak\n";
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

std::string frontier_text(const FrontierResult& frontier) {
    std::string text = fmt::format(
        "{} × {} micro-batches, {} stages: {} breakpoints ({} past the cheapest), {} certified, "
        "{:.3f} s; energies {}\n",
        frontier.schedule, frontier.micro_batches, frontier.stages,
        frontier.points.size() + frontier.beyond.size(), frontier.beyond.size(), frontier.certified,
        frontier.elapsed.value, frontier.provenance.text());
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
