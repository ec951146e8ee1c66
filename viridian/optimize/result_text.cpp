// The result of `optimize` as a person reads it.
#include <algorithm>
#include <cmath>
#include <map>

#include "viridian/base/units_text.hpp"
#include "viridian/optimize/precision_result.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {
namespace {

constexpr double much_lost = 0.1;  // share of the runs' time

// What was proven, and no more.
std::string proof_text(const ProvenPlan& proven) {
    double error = 0;
    for (const prove::OutputAgreement& output : proven.proof.outputs) error = std::max(error, output.error);
    const int inputs = proven.proof.inputs;
    std::string text = fmt::format("equal to the original within {:.1e} (relative L2) on {} {}", error,
                                   inputs, inputs == 1 ? "input" : "inputs");
    std::int64_t differing = 0, rows = 0, agreeing = 0;
    std::map<std::string, double> allowed;  // the most, by reason
    for (const prove::OutputAgreement& output : proven.proof.outputs) {
        if (output.allowed > 1e-4)
            allowed[output.because] = std::max(allowed[output.because], output.allowed);
        differing += output.differing;
        rows += output.rows;
        agreeing += output.agreeing;
    }
    for (const auto& [because, most] : allowed) text += fmt::format(", {:.1e} allowed: {}", most, because);
    if (differing > 0) text += fmt::format(", {} integers differ", differing);
    if (const prove::RegionCheck* worst = proven.worst_kernel(); worst != nullptr)
        text += fmt::format(", {} kernels each within {:.1e}", proven.regions.size(), worst->error);
    if (rows > 0) text += fmt::format(", best class on {} of {} rows", agreeing, rows);
    if (proven.reused > 0)
        text += fmt::format("; the original's {} computed by an earlier run",
                            proven.reused == inputs ? "were" : fmt::format("of {} were", proven.reused));
    return text;
}

// How near the plan is to the cheapest one for its graph. Mixes and products have no unit.
std::string bound_text(const plan::Assignment& assignment, const search::Objective& objective) {
    const bool one = objective.terms.size() == 1 && objective.form == search::Objective::Form::sum;
    const search::Metric metric = objective.terms.front().metric;
    const char* unit = !one                               ? ""
                       : metric == search::Metric::time   ? "s"
                       : metric == search::Metric::energy ? "J"
                       : metric == search::Metric::power  ? "W"
                                                          : "";
    if (!std::isfinite(assignment.bound))
        return fmt::format("{}, no bound known", quantity(assignment.value, unit));
    if (assignment.gap() <= 0) return "gap 0: the cheapest of this graph's plans at these prices";
    return fmt::format("gap {}: {}, and none is below {}", quantity(assignment.gap(), unit),
                       quantity(assignment.value, unit), quantity(assignment.bound, unit));
}

std::string ended_text(search::EndedBy reason) {
    if (reason == search::EndedBy::exhausted) return "having seen all";
    if (reason == search::EndedBy::cancelled) return "the user";
    return fmt::format("its budget of {}", search::name_of(reason));
}

// How many kernels compute otherwise than the operators say.
std::string arithmetic_text(const plan::Assignment& assignment) {
    std::size_t filtering = 0, strassen = 0;
    for (const plan::AssignedRegion& assigned : assignment.regions) {
        const plan::Algorithm algorithm = assigned.choice.variant.algorithm;
        filtering +=
            algorithm == plan::Algorithm::winograd || algorithm == plan::Algorithm::winograd_bf16 ? 1 : 0;
        strassen += algorithm == plan::Algorithm::strassen ? 1 : 0;
    }
    if (filtering + strassen == 0) return "";
    std::string text;
    if (filtering > 0) text += fmt::format("{} by minimal filtering (Winograd)", filtering);
    if (strassen > 0) text += fmt::format("{}{} by Strassen", text.empty() ? "" : ", ", strassen);
    return fmt::format("  kernels  {} of {}; --exact-arithmetic uses neither\n", text,
                       assignment.regions.size());
}

// How many kernels run on fewer threads than the device has.
std::string threads_text(const Optimized& result) {
    const plan::Plan& plan = result.optimized.planned.plan;
    const std::vector<int> threads = step_threads(plan);
    const auto fewer = std::ranges::count_if(threads, [&](int one) { return one < plan.threads; });
    std::string text;
    if (plan.threads < result.baseline.planned.plan.threads)
        text = fmt::format("  threads  the whole plan on {} of {}\n", plan.threads,
                           result.baseline.planned.plan.threads);
    else if (fewer > 0)
        text = fmt::format("  threads  {} of {} steps on fewer than {}, while the others sleep\n", fewer,
                           threads.size(), plan.threads);
    for (const Rival& rival : result.rivals) {
        const Measurement& ran = *rival.side.measured;
        text += fmt::format("           the best plan on {} ran in {} and took {}\n",
                            counted(rival.side.planned.plan.threads, "thread"),
                            quantity(ran.seconds.median, "s"), quantity(ran.energy.value.value, "J"));
    }
    return text;
}

// The plan, and the search that found it with what it did not look at.
std::string how_text(const Optimized& result) {
    const plan::Assignment& assignment = result.optimized.planned.plan.assignment;
    std::string out = fmt::format("  plan     {} rewrites, {} solver, {}\n", result.certificate.size(),
                                  assignment.solver, bound_text(assignment, result.options.objective)) +
                      threads_text(result) + arithmetic_text(assignment);
    if (result.options.method == search::OuterMethod::none) return out;
    out += fmt::format("  search   {}: {} graphs in {:.1f} s, ended by {}",
                       search::name_of(result.options.method), result.search.graphs,
                       result.search.seconds.value, ended_text(result.search.ended_by));
    if (const std::size_t count = result.search.unpriced; count > 0)
        out += fmt::format(", {} without a kernel or price left out", count);
    if (const std::size_t count = result.search.crowded_out; count > 0)
        out += fmt::format(", {} not gone on from: too many cheaper ones waited", count);
    return out + "\n";
}

// What joules of the model are worth.
std::string estimate_text(const Energy& energy) {
    if (energy.provenance.kind != Provenance::Kind::estimated) return "";
    return fmt::format(
        "           no meter covers this processor: joules are estimates by {}, to within a factor of\n"
        "           {:.2g} by convention; plans on equally many threads rank as their times do\n",
        energy.provenance.source, energy.high / energy.value);
}

std::string notes_text(const Optimized& result) {
    std::string out;
    const double lost = std::max(result.baseline.measured->lost, result.optimized.measured->lost);
    if (lost > much_lost)
        out += fmt::format(
            "  warning  other processes took {:.0f} % of the runs' time: measure again on a quiet machine\n",
            100 * lost);
    if (!result.gain().is_gain())
        out += fmt::format(
            "  note     no gain is shown: the ratio of what the objective minimises is {:.2f} "
            "({:.2f} to {:.2f}). {}\n",
            result.gain().value, result.gain().low, result.gain().high,
            result.kept_original ? "The model is written as it was given, without a plan"
                                 : "--keep-original writes the model as it was given");
    if (result.slow) out += fmt::format("  warning  {}\n", *result.slow);
    if (result.rewrites_dropped)
        out += "  note     no rewrite was kept: with them the outputs differ by more than is allowed\n";
    if (const std::size_t count = result.proof->only_reference.size(); count > 0)
        out += fmt::format(
            "  note     {} kinds of region run on the reference kernels: with every faster kernel, the "
            "original's "
            "own included, the outputs differ by more than is allowed\n",
            count);
    return out;
}

std::string frontier_text(const Optimized& result) {
    if (!result.frontier) return "";
    return fmt::format(
        "  trades   {} best ones of time against energy on this graph, in the page and in --json\n",
        result.frontier->vertices.size());
}

std::string change(const char* name, const char* unit, double before, double after) {
    return fmt::format("  {:<8} {:>9} -> {:>9}   {:.2f}x   ", name, quantity(before, unit),
                       quantity(after, unit), before / after);
}

std::string interval(const Ratio& ratio) { return fmt::format("({:.2f} to {:.2f})", ratio.low, ratio.high); }

std::string off(Seconds expected, double ran) {
    return fmt::format("{} ({:+.1f} %)", quantity(expected.value, "s"), 100 * (expected.value / ran - 1));
}

std::string recorded_text(const Optimized& result) {
    const plan::Plan& before = result.baseline.planned.plan;
    const plan::Plan& after = result.optimized.planned.plan;
    const Watts watts_before = before.predicted_energy.value / before.predicted_seconds;
    const Watts watts_after = after.predicted_energy.value / after.predicted_seconds;
    return fmt::format("{}  on {}, as {} has it, objective {}\n", result.model, result.device,
                       result.recorded_file, search::text(result.options.objective)) +
           change("time", "s", before.predicted_seconds.value, after.predicted_seconds.value) +
           "predicted\n" +
           change("energy", "J", before.predicted_energy.value.value, after.predicted_energy.value.value) +
           "predicted, " + after.predicted_energy.provenance.text() + "\n" +
           change("power", "W", watts_before.value, watts_after.value) + "predicted\n" + how_text(result) +
           "  outputs  not run: every price is from the file; `viridian check` replays the rewrites\n";
}

std::string measured_text(const Optimized& result) {
    const Measurement& before = *result.baseline.measured;
    const Measurement& after = *result.optimized.measured;
    const Seconds predicted = result.optimized.planned.plan.predicted_seconds;
    return fmt::format("{}  on {}, {} threads, objective {}\n", result.model, result.device,
                       result.baseline.planned.plan.threads, search::text(result.options.objective)) +
           change("time", "s", before.seconds.median, after.seconds.median) + interval(result.speedup()) +
           fmt::format("\n           predicted {} before it ran; its kernels, timed alone beside it, {}\n",
                       off(predicted, after.seconds.median), off(after.kernels(), after.seconds.median)) +
           change("energy", "J", before.energy.value.value, after.energy.value.value) +
           interval(result.energy_ratio()) + " " + after.energy.provenance.text() + "\n" +
           estimate_text(after.energy) + how_text(result) +
           (result.options.bf16 ? precision_text(result.optimized.planned, result.proof->forbidden) : "") +
           "  outputs  " + proof_text(*result.proof) + "\n" + notes_text(result);
}

}  // namespace

std::string text(const Optimized& result) {
    return (result.optimized.measured ? measured_text(result) : recorded_text(result)) +
           frontier_text(result);
}

}  // namespace viridian::optimize
