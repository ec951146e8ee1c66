#pragma once
// Reads samples of an opened dataset, for the fuzz targets of its formats: whatever the file, reading what
// was opened gives values or an error, and tensors have the shape that the column promises.
#include "viridian/data/dataset.hpp"

inline void read_samples(const viridian::Result<viridian::data::Dataset>& opened) {
    if (!opened.ok()) {
        if (opened.error().message.empty() || opened.error().next_step.empty()) __builtin_trap();
        return;
    }
    const std::vector<std::int64_t> samples = {opened->samples() - 1, 0, opened->samples() / 2};
    for (std::size_t i = 0; i < opened->columns(); ++i) {
        const auto& column = opened->column(i);
        const auto tensor = opened->read(i, samples);
        if (!tensor.ok()) continue;
        if (tensor->type() != column.type || tensor->dims().size() != column.dims.size() + 1)
            __builtin_trap();
        if (column.classes == 0) continue;
        for (std::int64_t k = 0; k < tensor->count(); ++k)
            if (tensor->integer(k) >= column.classes) __builtin_trap();
    }
}
