#include <algorithm>
#include <cstring>

#include "viridian/data/sources/array.hpp"
#include "viridian/data/sources/folder.hpp"
#include "viridian/data/sources/inflate.hpp"
#include "viridian/data/sources/npz.hpp"

namespace viridian::data {
namespace {

struct Entries {
    std::vector<Path> files, folders;  // sorted
};

// What a folder holds, without names that begin with a dot.
Result<Entries> entries_of(const Path& folder) {
    Entries found;
    std::error_code fault;
    for (std::filesystem::directory_iterator at(folder, fault), end; !fault && at != end;
         at.increment(fault)) {
        if (at->path().filename().string().starts_with('.')) continue;
        std::error_code ignored;
        (at->is_directory(ignored) ? found.folders : found.files).push_back(at->path());
    }
    if (fault)
        return fail(ErrorCode::file_unreadable, "check the path and its permissions", "cannot list `{}`: {}",
                    folder.string(), fault.message());
    std::ranges::sort(found.files);
    std::ranges::sort(found.folders);
    return found;
}

// "train-images-idx3-ubyte.gz" is the array "train-images".
std::string array_name(const Path& file) {
    std::string name = file.filename().string();
    for (const std::string_view ending : {".gz", ".npy", ".idx", "-ubyte"})
        if (name.ends_with(ending)) name = name.substr(0, name.size() - ending.size());
    if (name.size() > 5 && name.substr(name.size() - 5, 4) == "-idx") name = name.substr(0, name.size() - 5);
    return name;
}

Result<Array> open_array(const Path& file) {
    VIRIDIAN_TRY(ByteSource bytes, ByteSource::open(file));
    VIRIDIAN_TRY(std::string beginning, bytes.text(0, 8));
    if (is_gzip(beginning)) {
        VIRIDIAN_TRY(Unpacked unpacked, unpack(bytes, Packing::gzip, std::uint64_t{1} << 40));
        bytes = unpacked.bytes;
        VIRIDIAN_TRY(beginning, bytes.text(0, 8));
    }
    if (is_idx(beginning)) return open_idx(bytes);
    return open_npy(bytes);
}

Result<Dataset> open_arrays(const Path& folder, const std::vector<Path>& files,
                            const std::vector<std::string>& wanted) {
    std::vector<Field> fields;
    std::vector<std::int64_t> counts;
    for (const std::string& name : wanted)
        if (std::ranges::find(files, name, array_name) == files.end())
            return fail(ErrorCode::missing_entry, "name one of its files without the extension",
                        "the folder `{}` has no array `{}`", folder.string(), name);
    for (const Path& file : files) {
        std::string name = array_name(file);
        if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) continue;
        VIRIDIAN_TRY(Array array, open_array(file));
        counts.push_back(array.dims.front());
        fields.push_back(array_field(std::move(name), std::move(array)));
    }
    return of_equal_length(folder.string(), std::move(fields), counts);
}

// Samples that are a file each.
struct SampleFiles {
    std::string text;                   // the paths, one after the other
    std::vector<std::uint64_t> ends;    // of the paths in the text
    std::vector<std::int64_t> lengths;  // first dimensions, if they vary
    std::vector<std::int64_t> labels;   // if there are classes
    graph::ElementType type = graph::ElementType::undefined;
    graph::Dims dims;  // of the longest sample
    bool varies = false;

    [[nodiscard]] Path path(std::int64_t sample) const {
        const auto index = static_cast<std::size_t>(sample);
        const std::uint64_t begin = index == 0 ? 0 : ends[index - 1];
        return text.substr(begin, ends[index] - begin);
    }
};

Result<Array> open_sample(const Path& file) {
    VIRIDIAN_TRY(const ByteSource bytes, ByteSource::open(file));
    return open_npy(bytes);
}

Result<void> add_sample(SampleFiles& all, const Path& file) {
    VIRIDIAN_TRY(const Array array, open_sample(file));
    const bool first = all.ends.empty();
    const bool fits = first || (array.type == all.type && array.dims.size() == all.dims.size() &&
                                std::equal(array.dims.begin() + 1, array.dims.end(), all.dims.begin() + 1));
    if (!fits)
        return fail(ErrorCode::mismatch,
                    "write all samples with one type and one shape; only the first dimension may differ",
                    "`{}` holds {}, and the samples before it hold {}", file.string(),
                    text(graph::TensorType{array.type, graph::shape_of(array.dims)}),
                    text(graph::TensorType{all.type, graph::shape_of(all.dims)}));
    if (first) {
        all.type = array.type;
        all.dims = array.dims;
    }
    all.varies = all.varies || array.dims.front() != all.dims.front();
    all.dims.front() = std::max(all.dims.front(), array.dims.front());
    all.lengths.push_back(array.dims.front());
    all.text += file.string();
    all.ends.push_back(all.text.size());
    return {};
}

Result<void> read_files(const SampleFiles& all, SampleList samples, std::span<std::byte> out) {
    const std::size_t slot = out.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const Path file = all.path(samples[i]);
        VIRIDIAN_TRY(const Array array, open_sample(file));
        graph::Dims expected = all.dims;
        if (all.varies) expected.front() = all.lengths[static_cast<std::size_t>(samples[i])];
        if (array.type != all.type || array.dims != expected)
            return fail(ErrorCode::malformed, "leave the folder unchanged during training",
                        "`{}` has changed since the folder was opened", file.string());
        VIRIDIAN_TRY(array.bytes.read(0, out.subspan(i * slot, array.bytes.size())));
    }
    return {};
}

Dataset dataset_of_files(std::string name, SampleFiles found, std::vector<std::string> classes) {
    const auto count = static_cast<std::int64_t>(found.ends.size());
    if (!found.varies) std::vector<std::int64_t>().swap(found.lengths);
    const auto all = std::make_shared<const SampleFiles>(std::move(found));
    std::vector<Field> fields;
    fields.push_back(
        {{"data", all->type, all->dims, all->varies},
         [all](SampleList samples, std::span<std::byte> out) { return read_files(*all, samples, out); },
         {}});
    if (all->varies)
        fields.back().lengths = [all](SampleList samples, std::span<std::int64_t> out) -> Result<void> {
            for (std::size_t i = 0; i < samples.size(); ++i)
                out[i] = all->lengths[static_cast<std::size_t>(samples[i])];
            return {};
        };
    if (!classes.empty()) {
        Column label{"label", graph::ElementType::i64, {}};
        label.classes = static_cast<std::int64_t>(classes.size());
        label.categories = std::move(classes);
        fields.push_back({std::move(label),
                          [all](SampleList samples, std::span<std::byte> out) -> Result<void> {
                              for (std::size_t i = 0; i < samples.size(); ++i)
                                  std::memcpy(out.data() + i * sizeof(std::int64_t),
                                              &all->labels[static_cast<std::size_t>(samples[i])],
                                              sizeof(std::int64_t));
                              return {};
                          },
                          {}});
    }
    return Dataset(std::move(name), count, std::move(fields));
}

Result<Dataset> open_classes(const Path& folder, const std::vector<Path>& folders,
                             const FolderOptions& options) {
    std::vector<std::string> classes = options.categories;
    if (classes.empty())
        for (const Path& path : folders) classes.push_back(path.filename().string());
    SampleFiles all;
    for (const Path& path : folders) {
        const auto found = std::ranges::find(classes, path.filename().string());
        if (found == classes.end())
            return fail(ErrorCode::missing_entry, "rename the folder, or add the class to the training data",
                        "the training data has no class `{}`, which is a folder of `{}`",
                        path.filename().string(), folder.string());
        VIRIDIAN_TRY(const Entries inside, entries_of(path));
        for (const Path& file : inside.files) {
            VIRIDIAN_TRY(add_sample(all, file));
            all.labels.push_back(found - classes.begin());
        }
    }
    if (all.ends.empty())
        return fail(ErrorCode::malformed, "put one .npy file for each sample into the class folders",
                    "the folders in `{}` hold no files", folder.string());
    return dataset_of_files(folder.string(), std::move(all), std::move(classes));
}

}  // namespace

Result<Dataset> open_folder(const Path& folder, const std::vector<std::string>& wanted,
                            const FolderOptions& options) {
    VIRIDIAN_TRY(const Entries found, entries_of(folder));
    if (found.files.empty() && found.folders.empty())
        return fail(ErrorCode::malformed, "put .npy files, or one folder for each class into it",
                    "the folder `{}` is empty", folder.string());
    if (!found.files.empty() && !found.folders.empty())
        return fail(ErrorCode::malformed, "keep arrays as files, or one folder for each class, not both",
                    "the folder `{}` holds files and folders, as `{}` and `{}`", folder.string(),
                    found.files.front().filename().string(), found.folders.front().filename().string());
    if (!found.folders.empty()) return open_classes(folder, found.folders, options);
    if (!options.samples) return open_arrays(folder, found.files, wanted);
    SampleFiles all;
    for (const Path& file : found.files) VIRIDIAN_TRY(add_sample(all, file));
    return dataset_of_files(folder.string(), std::move(all), {});
}

}  // namespace viridian::data
