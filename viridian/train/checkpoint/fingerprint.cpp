#include "viridian/train/checkpoint/fingerprint.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/data/categories.hpp"
#include "viridian/train/crc32c.hpp"

namespace viridian::train {
namespace {

constexpr std::int64_t block_bytes = 1 << 20;
constexpr std::int64_t block_samples = 4096;
constexpr std::int64_t most_blocks = 64;

std::string form_of(const data::Column& column, std::int64_t samples) {
    std::string dims;
    for (std::size_t i = 0; i < column.dims.size(); ++i)
        dims += fmt::format("{}{}", i == 0 ? "" : ",",
                            i == 0 && column.varies ? "*" : fmt::format("{}", column.dims[i]));
    return fmt::format("{} samples of {}[{}]", samples, graph::name_of(column.type), dims);
}

std::uint32_t add_bytes(const void* bytes, std::size_t size, std::uint32_t before) {
    return crc32c({static_cast<const char*>(bytes), size}, before);
}

Result<std::uint32_t> checksum_of(const data::Dataset& samples, std::size_t index) {
    const data::Column& column = samples.column(index);
    std::uint32_t sum = crc32c(data::categories_text(column.categories));
    std::int64_t each = graph::size_of(column.type);
    for (const std::int64_t dim : column.dims) each *= std::max<std::int64_t>(dim, 1);
    const std::int64_t block = std::clamp<std::int64_t>(block_bytes / each, 1, block_samples);
    const std::int64_t blocks = (samples.samples() + block - 1) / block;
    const std::int64_t read = std::min(blocks, most_blocks);
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < read; ++i) {
        const std::int64_t first = (read > 1 ? i * (blocks - 1) / (read - 1) : 0) * block;
        list.resize(static_cast<std::size_t>(std::min(block, samples.samples() - first)));
        std::iota(list.begin(), list.end(), first);
        if (column.varies) {
            VIRIDIAN_TRY(const std::vector<std::int64_t> lengths, samples.lengths(index, list));
            sum = add_bytes(lengths.data(), lengths.size() * sizeof(std::int64_t), sum);
        }
        VIRIDIAN_TRY(const graph::Tensor values, samples.read(index, list));
        sum = add_bytes(values.bytes(), static_cast<std::size_t>(values.byte_count()), sum);
    }
    return sum;
}

}  // namespace

Result<std::vector<ColumnPrint>> fingerprints(const data::Dataset& samples,
                                              const std::vector<std::string>& columns,
                                              const std::string& source) {
    std::vector<ColumnPrint> prints;
    for (const std::string& name : columns) {
        VIRIDIAN_TRY(const std::size_t index, samples.find(name));
        VIRIDIAN_TRY(const std::uint32_t sum, checksum_of(samples, index));
        prints.push_back({.source = source,
                          .column = name,
                          .form = form_of(samples.column(index), samples.samples()),
                          .values = fmt::format("{:08x}", sum)});
    }
    return prints;
}

Result<void> check_same_samples(const std::vector<ColumnPrint>& saved, const std::vector<ColumnPrint>& now,
                                const std::string& file, bool other_values) {
    std::vector<std::string> forms, values;
    for (const ColumnPrint& before : saved) {
        const std::string what = fmt::format("the column `{}` of {}", before.column, before.source);
        const auto found = std::ranges::find_if(now, [&](const ColumnPrint& one) {
            return one.source == before.source && one.column == before.column;
        });
        if (found == now.end())
            forms.push_back(what + " is not read any more");
        else if (found->form != before.form)
            forms.push_back(fmt::format("{} had {} and has {}", what, before.form, found->form));
        else if (found->values != before.values)
            values.push_back(what + " holds other values");
    }
    if (!forms.empty())
        return fail(ErrorCode::mismatch, "give the samples of the first run, or start a new run",
                    "the run of `{}` had other samples: {}", file, fmt::join(forms, "; "));
    if (!values.empty() && !other_values)
        return fail(ErrorCode::mismatch,
                    "give the samples of the first run, or add --changed-data if they were repaired",
                    "the run of `{}` had other samples: {}", file, fmt::join(values, "; "));
    return {};
}

}  // namespace viridian::train
