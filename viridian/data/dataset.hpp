#pragma once
// A Dataset gives a trainer its samples: named columns with an element type and a shape per sample, and the
// values of any samples, which are read from the file when they are asked for. It never holds the whole file
// in memory; `open.hpp` says what each format keeps. Copies share everything, and reading from several
// threads at once is allowed.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "viridian/graph/tensor.hpp"

namespace viridian::data {

// A Column says what a dataset holds for every sample under one name.
struct Column {
    std::string name;
    graph::ElementType type = graph::ElementType::undefined;
    graph::Dims dims = {};  // of one sample; of the longest sample if the lengths vary
    bool varies = false;    // true: the first dimension differs from sample to sample
    // The texts that the integers 0, 1, ... stand for: names of classes, or the characters of a vocabulary.
    std::vector<std::string> categories = {};
    std::int64_t classes = 0;  // every value is an integer in [0, classes); 0: not known
};

using SampleList = std::span<const std::int64_t>;
// Writes the samples, in the order of the list, to equally large slots of `out`. A sample that is shorter
// than its slot leaves the rest as it was.
using ReadSamples = std::function<Result<void>(SampleList samples, std::span<std::byte> out)>;
// Writes the first dimension of each sample.
using ReadLengths = std::function<Result<void>(SampleList samples, std::span<std::int64_t> out)>;

// A Field is a column with the functions that read it.
struct Field {
    Column column;
    ReadSamples read;
    ReadLengths lengths;  // only if column.varies
};

// Lists names of columns for an error, a dozen at most: "`x`, `y` and 772 more".
[[nodiscard]] std::string column_list(const std::vector<std::string>& names);

enum class Format : std::uint8_t { automatic, npy, npz, idx, csv, text, folder };

class Dataset {
  public:
    Dataset() = default;
    // `name` stands for the dataset in errors.
    Dataset(std::string name, std::int64_t samples, std::vector<Field> fields);

    [[nodiscard]] const std::string& name() const { return name_; }
    // The kind of file that it was opened from; `automatic`: from none, or from several.
    [[nodiscard]] Format format() const { return format_; }
    void set_format(Format format) { format_ = format; }
    [[nodiscard]] std::int64_t samples() const { return samples_; }
    [[nodiscard]] std::size_t columns() const { return fields_.size(); }
    [[nodiscard]] const Column& column(std::size_t index) const { return fields_[index].column; }
    [[nodiscard]] std::vector<std::string> column_names() const;

    // Returns the index of the column `name`. Errors: missing_entry, which lists the columns.
    [[nodiscard]] Result<std::size_t> find(std::string_view name) const;
    // Returns the samples as a tensor of the dimensions [samples, column's dims], in the order of the list.
    // If the lengths vary, the first of the column's dimensions is the longest of these samples, and zeros
    // follow the end of the others. Errors: invalid_argument (no such sample), file_unreadable, malformed.
    [[nodiscard]] Result<graph::Tensor> read(std::size_t column, SampleList samples) const;
    // Returns the first dimension of each sample. If the lengths do not vary, all are equal.
    [[nodiscard]] Result<std::vector<std::int64_t>> lengths(std::size_t column, SampleList samples) const;
    // Returns the dataset with these columns only, in this order. Errors: missing_entry.
    [[nodiscard]] Result<Dataset> select(const std::vector<std::string>& names) const;

  private:
    friend Result<Dataset> join(std::string name, const std::vector<Dataset>& parts);
    [[nodiscard]] Result<void> check(SampleList samples) const;

    std::string name_;
    Format format_ = Format::automatic;
    std::int64_t samples_ = 0;
    std::vector<Field> fields_;
};

// Returns one dataset with the columns of all parts side by side: images from one file, labels from another.
// Errors: mismatch (different numbers of samples), invalid_argument (two columns of one name).
[[nodiscard]] Result<Dataset> join(std::string name, const std::vector<Dataset>& parts);

}  // namespace viridian::data
