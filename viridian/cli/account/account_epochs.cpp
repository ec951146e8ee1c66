// `viridian account epochs --trace T --power P`
#include <memory>

#include "viridian/account/products/epochs.hpp"
#include "viridian/base/json.hpp"
#include "viridian/cli/account/account.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::cli {
namespace {

struct AccountEpochsOptions {
    std::string trace, power, epoch, epochs, output, spill;
    std::int64_t offset_ns = 0;
    double bin_ms = 0.0, meter_shift_ms = 0.0;
};

Json to_json(const account::EpochPower& power) {
    Json points = Json::array();
    for (const account::EpochPoint& point : power.points)
        points.push_back({{"elapsed", point.elapsed.value},
                          {"watts", point.epochs > 0 ? Json(point.mean.value) : Json()},
                          {"deviation", point.deviation.value},
                          {"epochs", point.epochs},
                          {"first", point.first},
                          {"other", point.other}});
    return {{"device", power.device},
            {"provenance", power.provenance},
            {"bin", power.bin.value},
            {"length", power.length.value},
            {"points", std::move(points)}};
}

// Mean power over the bins that spend more than half of their block time so.
std::string phases_text(const account::EpochPower& power) {
    double first = 0.0, other = 0.0;
    int firsts = 0, others = 0;
    for (const account::EpochPoint& point : power.points) {
        if (point.epochs == 0 || point.first + point.other <= 0.0) continue;
        (point.first > point.other ? first : other) += point.mean.value;
        ++(point.first > point.other ? firsts : others);
    }
    if (firsts == 0 || others == 0) return "";
    return fmt::format("; {:.4g} W while the first block runs, {:.4g} W while another does", first / firsts,
                       other / others);
}

Result<Answer> run_account_epochs(const AccountEpochsOptions& options) {
    trace::ReadOptions read;
    read.shift = options.offset_ns;
    if (!options.spill.empty()) read.spill.folder = options.spill;
    VIRIDIAN_TRY(const meter::PowerLog log, meter::read_power_log(options.power));
    VIRIDIAN_TRY(auto source, trace::open(options.trace, read));
    VIRIDIAN_TRY(account::Outline outline, account::outline(*source, options.epoch));
    if (!options.epochs.empty()) {
        VIRIDIAN_TRY(const std::string text, read_file(options.epochs));
        VIRIDIAN_TRY(outline.epochs, account::parse_epochs(text, options.epochs));
        outline.bounds = options.epochs;
        outline.period = account::Period::epoch;
    }
    if (outline.epochs.empty())
        return fail(ErrorCode::missing_entry,
                    "name one with --epoch, or give their bounds with --epochs FILE",
                    "nothing in `{}`{} bounds an epoch or a step", options.trace,
                    options.epoch.empty() ? "" : fmt::format(" called `{}`", options.epoch));
    VIRIDIAN_TRY(source, trace::open(options.trace, read));
    VIRIDIAN_TRY(
        const auto powers,
        account::epoch_power(*source, log, outline,
                             {.bin = static_cast<std::int64_t>(options.bin_ms * 1e6),
                              .meter_shift = static_cast<std::int64_t>(options.meter_shift_ms * 1e6)}));
    Answer answer;
    answer.json = {{"schema", "viridian.account-epochs/1"},
                   {"trace", options.trace},
                   {"power", options.power},
                   {"bounds", outline.bounds},
                   {"epochs", outline.epochs.size()},
                   {"unit", name_of(outline.period)},
                   {"block", outline.block},
                   {"first", outline.first},
                   {"devices", Json::array()}};
    answer.text =
        fmt::format("{} {}s, bounded by `{}`; repeated block: {}\n", outline.epochs.size(),
                    name_of(outline.period), outline.bounds, outline.block.empty() ? "none" : outline.block);
    for (const account::EpochPower& power : powers) {
        answer.json["devices"].push_back(to_json(power));
        double sum = 0.0;
        std::size_t known = 0;
        for (const account::EpochPoint& point : power.points)
            if (point.epochs > 0) sum += point.mean.value, ++known;
        answer.text += fmt::format("{}: {:.4g} W on average over {:.4g} s ({}){}\n", power.device,
                                   sum / static_cast<double>(std::max<std::size_t>(known, 1)),
                                   power.length.value, power.provenance, phases_text(power));
    }
    VIRIDIAN_TRY(keep_answer(answer, options.output));
    return answer;
}

}  // namespace

Action define_account_epochs(App app) {
    const auto options = std::make_shared<AccountEpochsOptions>();
    // The parent's --trace and --power, too: an option of that name before the subcommand is the parent's.
    app.add_option("--trace", options->trace, "Trace of any known format").required();
    app.add_option("--power", options->power, "Power log").required();
    app.add_option(
        "--epoch", options->epoch,
        "Name of the events that bound epochs (default: the marks of epochs, else steps; docs/account.md)");
    app.add_option("--epochs", options->epochs, "File of `begin_ns,end_ns` lines that bound the epochs");
    app.add_option("--bin", options->bin_ms,
                   "Milliseconds of elapsed time that one point covers (default: the meter's period)");
    app.add_option("--offset", options->offset_ns, "Nanoseconds added to the trace's times");
    app.add_option("--meter-shift", options->meter_shift_ms, "Known lag of the meter, milliseconds");
    app.add_option("--spill", options->spill, "Folder for sorting what does not fit in memory");
    app.add_option("-o,--output", options->output,
                   "Write the result to FILE.json and its page to FILE.html; the ending may be left out");
    return [options] { return run_account_epochs(*options); };
}

}  // namespace viridian::cli
