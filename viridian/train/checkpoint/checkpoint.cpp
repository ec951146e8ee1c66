#include "viridian/train/checkpoint/checkpoint.hpp"

#include "viridian/base/units_text.hpp"
#include "viridian/train/checkpoint/description.hpp"
#include "viridian/train/checkpoint/safetensors.hpp"

namespace viridian::train {
namespace {

// Returns a sentence's part for every option that differs: "--batch was 32 and is 64". An empty value says
// that the option is not given.
std::vector<std::string> differences(const Options& before, const Options& now) {
    const auto value = [](const Options& options, const std::string& name) {
        const auto found = options.find(name);
        return found == options.end() ? std::string() : found->second;
    };
    Options all = before;
    all.insert(now.begin(), now.end());
    std::vector<std::string> found;
    for (const auto& entry : all) {
        const std::string was = value(before, entry.first), is = value(now, entry.first);
        if (was == is) continue;
        if (is.empty())
            found.push_back(fmt::format("{} was {} and is not given", entry.first, was));
        else if (was.empty())
            found.push_back(fmt::format("{} was not given and is {}", entry.first, is));
        else
            found.push_back(fmt::format("{} was {} and is {}", entry.first, was, is));
    }
    return found;
}

Result<Description> description_of(const SafetensorsFile& file) {
    return read_description(file.metadata(), file.path().string());
}

}  // namespace

Result<void> write_checkpoint(const Path& path, const Checkpoint& checkpoint) {
    std::vector<NamedTensor> tensors;
    for (const SavedState& state : checkpoint.states) tensors.push_back({state.name, state.tensor});
    return write_safetensors(path, tensors, describe(checkpoint));
}

Result<Checkpoint> read_checkpoint(const Path& path) {
    VIRIDIAN_TRY(const SafetensorsFile file, SafetensorsFile::open(path));
    VIRIDIAN_TRY(Description description, description_of(file));
    if (description.states.size() != file.tensors().size())
        return fail(ErrorCode::malformed, "resume from another checkpoint", "`{}` describes {} and holds {}",
                    path.string(), counted(description.states.size(), "state"),
                    counted(file.tensors().size(), "tensor"));
    Checkpoint checkpoint = std::move(description.head);
    for (StateDescription& state : description.states) {
        VIRIDIAN_TRY(graph::Tensor tensor, file.read(state.name));
        if (checksum_of(tensor) != state.checksum)
            return fail(ErrorCode::malformed, "resume from another checkpoint",
                        "`{}` is damaged: tensor `{}` does not match its checksum", path.string(),
                        state.name);
        checkpoint.states.push_back(
            {std::move(state.name), std::move(state.role), std::move(state.of), std::move(tensor)});
    }
    return checkpoint;
}

Result<Checkpoint> read_checkpoint_head(const Path& path) {
    VIRIDIAN_TRY(const SafetensorsFile file, SafetensorsFile::open(path));
    VIRIDIAN_TRY(Description description, description_of(file));
    return std::move(description.head);
}

Result<void> check_resumable(const Checkpoint& saved, const Path& file, std::string_view model,
                             const Options& options) {
    if (saved.model != model)
        return fail(ErrorCode::mismatch, "train the model that it belongs to, or start a new run",
                    "`{}` belongs to another model: its hash is {}, that of this model is {}", file.string(),
                    saved.model, model);
    const auto found = differences(saved.options, options);
    if (found.empty()) return {};
    return fail(ErrorCode::mismatch, "repeat the options of the first run, or start a new run",
                "the run of `{}` had other options: {}", file.string(), fmt::join(found, "; "));
}

}  // namespace viridian::train
