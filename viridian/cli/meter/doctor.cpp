#include <algorithm>
#include <cstdlib>
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/limits.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/cli/command.hpp"
#include "viridian/cli/meter/doctor_check.hpp"
#include "viridian/cli/meter/doctor_peaks.hpp"
#include "viridian/cli/meter/meter_paths.hpp"
#include "viridian/cli/model/residuals.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::cli {
namespace {

Json check_json(const Check& check) {
    return {{"name", check.name},
            {"works", check.works},
            {"finding", check.finding},
            {"next_step", check.next_step},
            {"details", check.details}};
}

std::string mebibytes(Bytes bytes) {
    if (bytes.value == 0) return "unknown";
    return bytes.value < (1 << 20) ? fmt::format("{} KiB", bytes.value >> 10)
                                   : fmt::format("{} MiB", bytes.value >> 20);
}

void check_meters(std::vector<Check>& checks) {
    for (const meter::Diagnosis& found : meter::probe_all(meter_paths()))
        checks.push_back({"meter " + found.name, found.works, found.finding, found.next_step, found.details});
}

Check check_kernels() {
    const char* library = std::getenv("VIRIDIAN_CUPTI");
    const Result<std::string> parameters = read_file(Path(meter_paths().root) / "proc/driver/nvidia/params");
    return check_cupti(trace::cupti::probe(library != nullptr ? library : ""),
                       parameters.ok() ? *parameters : "");
}

// Probes what this processor does at most, on one thread and on as many as kernels use by default.
Result<void> add_peaks(Answer& answer) {
    VIRIDIAN_TRY(const int threads, default_threads());
    VIRIDIAN_TRY(const std::vector<execute::Peak> peaks, execute::probe_peaks(threads));
    answer.json["peaks"] = Json::array();
    for (const execute::Peak& peak : peaks) answer.json["peaks"].push_back(to_json(peak));
    answer.text += peaks_text(peaks);
    return {};
}

Result<Answer> doctor(bool peaks) {
    const Machine machine = this_machine();
    std::vector<Check> checks = check_processor(machine);
    check_meters(checks);
    checks.push_back(check_kernels());
    if (const auto summary = own_residuals())
        checks.push_back({"predictions", true, text(*summary), "`viridian profile --residuals` lists them"});

    Answer answer;
    answer.json = {{"schema", "viridian.doctor/1"}, {"machine", to_json(machine)}, {"checks", Json::array()}};
    answer.text = fmt::format("{}\n  {} physical cores, caches {} / {} / {}, {} memory, {}{}\n",
                              machine.cpu_model, machine.physical_cores, mebibytes(machine.l1_data),
                              mebibytes(machine.l2), mebibytes(machine.l3), mebibytes(machine.memory),
                              machine.kernel, machine.virtual_machine ? ", virtual machine" : "");
    for (const Check& check : checks) {
        answer.json["checks"].push_back(check_json(check));
        answer.text += fmt::format("{} {:<14} {}\n", check.works ? "+" : "-", check.name, check.finding);
        for (const std::string& detail : check.details) answer.text += fmt::format("{:17}{}\n", "", detail);
        if (!check.next_step.empty()) answer.text += fmt::format("{:17}{}\n", "", check.next_step);
    }
    if (peaks) VIRIDIAN_TRY(add_peaks(answer));
    return answer;
}

}  // namespace

std::vector<Check> check_processor(const Machine& machine) {
    std::vector<Check> checks;
    checks.push_back({"avx2", machine.has("avx2") && machine.has("fma"),
                      machine.has("avx2") ? "vector kernels run" : "this CPU has no AVX2",
                      machine.has("avx2") ? "" : "use an x86-64 CPU from 2013 or later"});
    checks.push_back({"avx512", machine.has("avx512"),
                      machine.has("avx512") ? "wide vector kernels and Winograd convolutions run"
                                            : "not on this CPU; AVX2 kernels are used",
                      ""});
    const bool products = machine.has("avx512_bf16"), matrices = machine.has("amx_bf16");
    checks.push_back(
        {"avx512_bf16", products,
         products ? "bf16 dot products: `--allow bf16` pays, up to 2x where arithmetic bounds the time"
                  : "no bf16 dot products on this CPU",
         ""});
    checks.push_back({"amx_bf16", matrices,
                      matrices   ? "bf16 matrix unit: `--allow bf16` pays"
                      : products ? "no bf16 matrix unit on this CPU"
                                 : "no bf16 matrix unit on this CPU; bf16 can only save memory traffic",
                      ""});
    return checks;
}

Command doctor_command() {
    return {"doctor", "What this machine can run and measure, and how to enable the rest", "viridian doctor",
            [](App app) {
                auto peaks = std::make_shared<bool>(false);
                app.add_flag(
                    "--peaks", *peaks,
                    "Probe peak arithmetic and bandwidth too, for some seconds; other programs lower them");
                return [peaks] { return doctor(*peaks); };
            }};
}

}  // namespace viridian::cli
