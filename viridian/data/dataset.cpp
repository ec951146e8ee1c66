#include "viridian/data/dataset.hpp"

#include <algorithm>

namespace viridian::data {

Dataset::Dataset(std::string name, std::int64_t samples, std::vector<Field> fields)
    : name_(std::move(name)), samples_(samples), fields_(std::move(fields)) {}

std::string column_list(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        list += fmt::format("{}`{}`", i == 0 ? "" : ", ", names[i]);
    return names.size() > most ? fmt::format("{} and {} more", list, names.size() - most) : list;
}

std::vector<std::string> Dataset::column_names() const {
    std::vector<std::string> names;
    for (const Field& field : fields_) names.push_back(field.column.name);
    return names;
}

Result<std::size_t> Dataset::find(std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i)
        if (fields_[i].column.name == name) return i;
    return fail(ErrorCode::missing_entry,
                fmt::format("name one of its columns: {}", column_list(column_names())),
                "`{}` has no column `{}`", name_, name);
}

Result<void> Dataset::check(SampleList samples) const {
    for (const std::int64_t sample : samples)
        if (sample < 0 || sample >= samples_)
            return fail(ErrorCode::invalid_argument,
                        fmt::format("ask for samples from 0 to {}", samples_ - 1), "`{}` has no sample {}",
                        name_, sample);
    return {};
}

Result<std::vector<std::int64_t>> Dataset::lengths(std::size_t column, SampleList samples) const {
    VIRIDIAN_TRY(check(samples));
    const Field& field = fields_[column];
    const std::int64_t whole = field.column.dims.empty() ? 1 : field.column.dims.front();
    std::vector<std::int64_t> lengths(samples.size(), whole);
    if (field.column.varies) VIRIDIAN_TRY(field.lengths(samples, lengths));
    return lengths;
}

Result<graph::Tensor> Dataset::read(std::size_t column, SampleList samples) const {
    VIRIDIAN_TRY(check(samples));
    const Field& field = fields_[column];
    graph::Dims dims = {static_cast<std::int64_t>(samples.size())};
    dims.insert(dims.end(), field.column.dims.begin(), field.column.dims.end());
    if (field.column.varies) {
        VIRIDIAN_TRY(const std::vector<std::int64_t> found, lengths(column, samples));
        dims[1] = found.empty() ? 0 : *std::max_element(found.begin(), found.end());
    }
    if (const auto count = graph::element_count(dims); !count.ok())
        return fail(ErrorCode::limit_exceeded, "ask for fewer samples at once",
                    "{} samples of the column `{}` of `{}` have more than 2^40 elements", samples.size(),
                    field.column.name, name_);
    graph::Tensor tensor(field.column.type, std::move(dims));
    const std::span<std::byte> out(tensor.mutable_bytes(), static_cast<std::size_t>(tensor.byte_count()));
    if (!out.empty()) VIRIDIAN_TRY(field.read(samples, out));
    return tensor;
}

Result<Dataset> Dataset::select(const std::vector<std::string>& names) const {
    std::vector<Field> fields;
    for (const std::string& name : names) {
        VIRIDIAN_TRY(const std::size_t index, find(name));
        fields.push_back(fields_[index]);
    }
    return Dataset(name_, samples_, std::move(fields));
}

Result<Dataset> join(std::string name, const std::vector<Dataset>& parts) {
    std::vector<Field> fields;
    for (const Dataset& part : parts) {
        if (part.samples() != parts.front().samples())
            return fail(ErrorCode::mismatch, "give files whose samples belong together",
                        "`{}` has {} samples and `{}` has {}", parts.front().name(), parts.front().samples(),
                        part.name(), part.samples());
        for (const Field& field : part.fields_) {
            for (const Field& other : fields)
                if (other.column.name == field.column.name)
                    return fail(ErrorCode::invalid_argument, "give one of them another name: NAME=FILE",
                                "`{}` has two columns of the name `{}`", name, field.column.name);
            fields.push_back(field);
        }
    }
    const std::int64_t samples = parts.empty() ? 0 : parts.front().samples();
    return Dataset(std::move(name), samples, std::move(fields));
}

}  // namespace viridian::data
