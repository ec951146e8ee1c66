#pragma once
// Writes and reads pipeline plans in the formats of training frameworks and planners (PyTorch, Zeus,
// Megatron-LM, DeepSpeed) and as our own JSON. Each writer says what its format cannot hold; each reader only
// parses text and never evaluates it.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/pipeline/plan_json.hpp"

namespace viridian::pipeline {

struct Written {
    std::string text;
    // One sentence for each thing that the format cannot hold. If `lost` is empty, reading `text` gives the
    // same order and clocks (Zeus and DeepSpeed round clocks to whole MHz).
    std::vector<std::string> lost;
};
struct Read {
    PlanFile plan;
    std::vector<std::string> dropped;  // one sentence for each thing in the text that a plan cannot hold
};

// In all readers `name` stands for the file in errors. Errors of readers: malformed. Errors of writers:
// unsupported for a schedule that the format cannot express.

// PyTorch's format has one row per rank and cells like `0F0`, `1I2`, `0W3`, `1B0`, `(0F1;1B0)OVERLAP_F_B`;
// empty cells are bubbles (torch.distributed.pipelining.schedules, `_load_csv`).
[[nodiscard]] Result<Written> write_pytorch_csv(const PlanFile& plan);
[[nodiscard]] Result<Read> read_pytorch_csv(std::string_view text, std::string_view name);

// Zeus's format is `[[('forward', 1410), ('backward', 1260), ...], ...]`: one list per stage, clocks in MHz.
// Older files hold bare clocks in 1F1B order (ml-energy/zeus pipeline frequency optimizer, lowtime's Perseus
// example). The writer also fails with missing_entry if a unit has no clock.
[[nodiscard]] Result<Written> write_zeus_plan(const PlanFile& plan);
[[nodiscard]] Result<Read> read_zeus_plan(std::string_view text, std::string_view name);

// Megatron-LM's format has one line of chunk numbers per rank. They count from 1 and are negative for
// backwards: `1 1 2 -2 1 -2`.
[[nodiscard]] Result<Written> write_megatron_order(const PlanFile& plan);
[[nodiscard]] Result<Read> read_megatron_order(std::string_view text, std::string_view name);

// DeepSpeed's format has `rank N:` and then one instruction per line: LoadMicroBatch,
// ForwardPass(buffer_id=0), SendActivation, ... and ENVPIPE's LockGpuClock (deepspeed.runtime.pipe.schedule).
[[nodiscard]] Result<Written> write_deepspeed(const PlanFile& plan);
[[nodiscard]] Result<Read> read_deepspeed(std::string_view text, std::string_view name);

// The JSON of plan_json.hpp. The writer writes order and clocks only. The reader also fails with mismatch
// (another schema).
[[nodiscard]] Result<Written> write_json(const PlanFile& plan);
[[nodiscard]] Result<Read> read_json(std::string_view text, std::string_view name);

// A FormatRow is one format that users can name.
struct FormatRow {
    std::string name;
    std::string summary;
    Result<Read> (*read)(std::string_view text, std::string_view name);
    Result<Written> (*write)(const PlanFile& plan);
};
[[nodiscard]] const std::vector<FormatRow>& formats();
// Returns the format called `name`. Errors: invalid_argument, with the list of names.
[[nodiscard]] Result<FormatRow> find_format(std::string_view name);

// Returns the plan file of `schedule`, without clocks.
[[nodiscard]] PlanFile plan_of(Schedule schedule);

}  // namespace viridian::pipeline
