#pragma once
// Makes the tensors of a model's inputs from samples of a dataset: the columns are mapped to inputs by name,
// their elements converted, normalised, padded to one length and augmented. Everything that can be known from
// the types and shapes alone is checked once, when the object is made.
#include <optional>

#include "viridian/data/dataset.hpp"
#include "viridian/data/sampler.hpp"

namespace viridian::data {

// A ModelInput is an input of the model: its first dimension is the batch, and the others are one sample's.
struct ModelInput {
    std::string name;
    graph::TensorType type;
};

// An InputOptions says what becomes of a column before it is a model's input. Steps happen in this order:
// channels first, augmentation, conversion with normalisation, padding.
struct InputOptions {
    std::string input = {};
    std::string column = {};  // "": the column of the input's name
    // True: a sample is [height, width, channels], and the model gets [channels, height, width].
    bool channels_last = false;
    // An element becomes (element × scale - mean) / deviation, computed in f32, or in f64 for inputs of that
    // type. `mean` and `deviation` have one value, or one for each index of the sample's first dimension (the
    // channels).
    double scale = 1;
    std::vector<double> mean = {}, deviation = {};
    // Augmentation of training samples [channels, height, width] or [height, width]: the probability of
    // mirroring left and right, and how many zeros are put around an image before a part of its size is cut
    // out of it.
    double flip = 0;
    std::int64_t crop = 0;
    // Rows whose length varies are filled up with this value: to the dimension of the input if it is known,
    // otherwise to the length of the longest row of the batch. Without it they are filled up with `ignored`,
    // or else with 0.
    std::optional<double> pad = {};
    bool truncate = false;  // cut rows that are longer than the input; otherwise they are an error
    // The input holds labels below this number; 0: any values. `ignored` is allowed too.
    std::int64_t classes = 0;
    std::optional<std::int64_t> ignored = {};
};

// A MaskOptions makes an input of shape [samples, length] that is 1 where a row has elements and 0 where it
// is padded: by the lengths of the column's rows, or where elements differ from `padding`.
struct MaskOptions {
    std::string input = {};
    std::string column = {};
    std::optional<std::int64_t> padding = {};
};

struct BatchOptions {
    std::vector<InputOptions> inputs = {};  // inputs that are not listed take the column of their name
    std::vector<MaskOptions> masks = {};
    bool augment = true;     // false: flip and crop are left out, for evaluation
    std::uint64_t seed = 0;  // of augmentation
};

// A Batch holds what one micro-batch feeds to the model.
struct Batch {
    Draw draw;
    std::vector<graph::Tensor> inputs;  // in the order of the model's inputs
};

class Batches {
  public:
    // Errors: missing_entry (no such column or input), mismatch (shape or element type), invalid_argument
    // (normalisation, augmentation).
    [[nodiscard]] static Result<Batches> make(Dataset dataset, std::vector<ModelInput> inputs,
                                              const BatchOptions& options);

    // Reads and converts the samples of a draw. Several threads may call it at once. Errors: malformed
    // (labels out of range, values that the type cannot hold, a damaged file), mismatch (rows longer than the
    // input), file_unreadable.
    [[nodiscard]] Result<Batch> batch(Draw draw) const;
    [[nodiscard]] const Dataset& dataset() const { return dataset_; }

  private:
    // How one input is made.
    struct Recipe {
        InputOptions options;
        std::size_t column = 0;
        bool mask = false;
        std::optional<std::int64_t> padding;  // of a mask
        graph::ElementType type = graph::ElementType::undefined;
        graph::Dims dims;  // of one sample, as the model takes it; the first is -1 if it follows the batch
        std::size_t channels = 1;  // over which mean and deviation differ
    };
    static Result<Recipe> plan(const Dataset& dataset, const ModelInput& input, const BatchOptions& options);
    static Result<Recipe> plan_mask(const Dataset& dataset, const ModelInput& input, const MaskOptions& mask);
    [[nodiscard]] Result<graph::Tensor> make_input(const Recipe& recipe, const Draw& draw) const;
    [[nodiscard]] Result<graph::Tensor> make_mask(const Recipe& recipe, const Draw& draw) const;
    [[nodiscard]] Result<void> check_labels(const Recipe& recipe, const Draw& draw,
                                            const graph::Tensor& labels) const;

    Dataset dataset_;
    std::vector<ModelInput> inputs_;
    std::vector<Recipe> recipes_;
    bool augment_ = true;
    std::uint64_t seed_ = 0;
};

}  // namespace viridian::data
