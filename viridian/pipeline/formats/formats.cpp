#include "viridian/pipeline/formats/formats.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

namespace viridian::pipeline {

const std::vector<FormatRow>& formats() {
    static const std::vector<FormatRow> rows = {
        {"json", "this project's plan", read_json, write_json},
        {"pytorch", "torch.distributed.pipelining schedule CSV", read_pytorch_csv, write_pytorch_csv},
        {"zeus", "Zeus / Perseus frequency plan", read_zeus_plan, write_zeus_plan},
        {"megatron-order", "Megatron-LM chunk order per rank", read_megatron_order, write_megatron_order},
        {"deepspeed", "DeepSpeed-style instruction lists", read_deepspeed, write_deepspeed},
    };
    return rows;
}

Result<FormatRow> find_format(std::string_view name) {
    const auto found = std::ranges::find(formats(), name, &FormatRow::name);
    if (found != formats().end()) return *found;
    std::string names;
    for (const FormatRow& row : formats()) names += (names.empty() ? "" : ", ") + row.name;
    return fail(ErrorCode::invalid_argument, "choose one of: " + names, "no plan format is called `{}`",
                name);
}

PlanFile plan_of(Schedule schedule) {
    PlanFile plan;
    const auto units = static_cast<std::size_t>(schedule.size());
    plan.clock.resize(units);
    plan.second_clock.resize(units);
    plan.second_after.resize(units);
    plan.schedule = std::move(schedule);
    return plan;
}

Result<Read> read_json(std::string_view text, std::string_view name) {
    VIRIDIAN_TRY(const Json json, parse_json(text, name));
    VIRIDIAN_TRY(PlanFile plan, plan_from_json(json, name));
    return Read{std::move(plan), {}};
}

// Order and clocks only; `viridian pipeline check --json` adds times and energies from a profile.
Result<Written> write_json(const PlanFile& plan) {
    Json ranks = Json::array();
    std::size_t u = 0;
    for (const auto& rank : plan.schedule.ranks) {
        Json units = Json::array();
        for (const Unit& unit : rank) {
            Json one = {
                {"stage", unit.stage}, {"kind", name_of(unit.kind)}, {"micro_batch", unit.micro_batch}};
            if (plan.clock[u].value > 0) one["clock_mhz"] = plan.clock[u].value / 1e6;
            if (plan.second_clock[u].value > 0) {
                one["second_clock_mhz"] = plan.second_clock[u].value / 1e6;
                one["second_after"] = plan.second_after[u].value;
            }
            if (unit.overlapped) one["overlapped"] = true;
            units.push_back(std::move(one));
            ++u;
        }
        ranks.push_back(std::move(units));
    }
    const Json json = {{"schema", "viridian.pipeline-plan/1"},
                       {"schedule_name", plan.schedule.name},
                       {"stages", plan.schedule.stages},
                       {"micro_batches", plan.schedule.micro_batches},
                       {"split_backward", plan.schedule.split_backward},
                       {"schedule", std::move(ranks)}};
    return Written{json_dump(json, 1) + "\n", {}};
}

}  // namespace viridian::pipeline
