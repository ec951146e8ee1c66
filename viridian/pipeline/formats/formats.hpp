#pragma once
// Writes and reads plans in the formats of other trainers. Each writer says what its format cannot hold; each
// reader only parses text and never evaluates it. `plan_json.hpp` is the format that holds everything.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/pipeline/plan_json.hpp"

namespace viridian::pipeline {

struct Written {
    std::string text;
    std::vector<std::string> lost;  // one sentence each; empty: reading it back gives the same plan
};
struct Read {
    PlanFile plan;
    std::vector<std::string> dropped;  // what the text held beyond a plan
};

// One row per rank, cells like `0F0`, `1I2`, `0W3`, `1B0`, `(0F1;1B0)OVERLAP_F_B`; empty cells are bubbles
// (torch.distributed.pipelining.schedules, `_load_csv`).
[[nodiscard]] Result<Written> write_pytorch_csv(const PlanFile& plan);
[[nodiscard]] Result<Read> read_pytorch_csv(std::string_view text, std::string_view name);

// `[[('forward', 1410), ('backward', 1260), ...], ...]`, one list per stage; older files hold bare clocks in
// 1F1B order (ml-energy/zeus pipeline frequency optimizer, lowtime's Perseus example).
[[nodiscard]] Result<Written> write_zeus_plan(const PlanFile& plan);
[[nodiscard]] Result<Read> read_zeus_plan(std::string_view text, std::string_view name);

// One line per rank of chunk numbers from 1, negative for backwards: `1 1 2 -2 1 -2` (Megatron-LM).
[[nodiscard]] Result<Written> write_megatron_order(const PlanFile& plan);
[[nodiscard]] Result<Read> read_megatron_order(std::string_view text, std::string_view name);

// `rank N:` then one instruction per line: LoadMicroBatch, ForwardPass(buffer_id=0), SendActivation, ... and
// ENVPIPE's LockGpuClock (deepspeed.runtime.pipe.schedule).
[[nodiscard]] Result<Written> write_deepspeed(const PlanFile& plan);
[[nodiscard]] Result<Read> read_deepspeed(std::string_view text, std::string_view name);

[[nodiscard]] Result<Written> write_json(const PlanFile& plan);
[[nodiscard]] Result<Read> read_json(std::string_view text, std::string_view name);

struct FormatRow {
    std::string name;
    std::string summary;
    Result<Read> (*read)(std::string_view text, std::string_view name);
    Result<Written> (*write)(const PlanFile& plan);
};
[[nodiscard]] const std::vector<FormatRow>& formats();
// Errors: invalid_argument with the list of names.
[[nodiscard]] Result<FormatRow> find_format(std::string_view name);

// The plan of a schedule, without clocks.
[[nodiscard]] PlanFile plan_of(Schedule schedule);

}  // namespace viridian::pipeline
