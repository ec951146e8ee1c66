#include "viridian/data/open.hpp"

#include <optional>

#include "viridian/data/npy.hpp"
#include "viridian/data/sources/array.hpp"
#include "viridian/data/sources/inflate.hpp"
#include "viridian/data/sources/npz.hpp"
#include "viridian/data/sources/zip.hpp"

namespace viridian::data {
namespace {

std::string_view name_of_format(Format format) {
    switch (format) {
        case Format::npy:
            return ".npy file";
        case Format::npz:
            return ".npz file";
        case Format::idx:
            return "IDX file";
        case Format::csv:
            return "CSV file";
        case Format::text:
            return "text";
        case Format::folder:
            return "folder";
        case Format::automatic:
            break;
    }
    return "data file";
}

// What the extension promises, without ".gz".
Format by_extension(const std::string& name) {
    Path path(name);
    if (path.extension() == ".gz") path = path.stem();
    const std::string extension = path.extension().string();
    if (extension == ".npy") return Format::npy;
    if (extension == ".npz") return Format::npz;
    if (extension == ".idx" || name.find("-ubyte") != std::string::npos) return Format::idx;
    if (extension == ".csv" || extension == ".tsv") return Format::csv;
    if (extension == ".txt" || extension == ".text" || extension == ".md") return Format::text;
    return Format::automatic;
}

// What the first bytes say; text has no signature.
Format by_content(std::string_view beginning) {
    if (is_npy(beginning)) return Format::npy;
    if (is_zip(beginning)) return Format::npz;
    if (is_idx(beginning)) return Format::idx;
    return Format::automatic;
}

Result<Format> format_of(const ByteSource& file, std::string_view beginning, Format asked) {
    const Format found = by_content(beginning);
    const Format promised = asked != Format::automatic ? asked : by_extension(file.name());
    const bool plain = promised == Format::csv || promised == Format::text;
    if (plain && (asked != Format::automatic || found == Format::automatic)) return promised;
    if (found != Format::automatic && (promised == found || asked == Format::automatic)) return found;
    if (promised != Format::automatic)
        return fail(ErrorCode::malformed, "check that it is the right file, or write it again",
                    "`{}` is not a readable {}: it does not begin as one", file.name(),
                    name_of_format(promised));
    return fail(ErrorCode::malformed, "give it the extension .npz, .npy, .idx, .csv or .txt of its format",
                "`{}` is not a data file of a known format", file.name());
}

std::string column_name(const ByteSource& file, const OpenOptions& options) {
    if (!options.name.empty()) return options.name;
    Path path = Path(file.name()).filename();
    if (path.extension() == ".gz") path = path.stem();
    return path.stem().string();
}

Result<Dataset> one_array(const ByteSource& file, const OpenOptions& options, Result<Array> array) {
    if (!array.ok()) return std::move(array).error();
    const std::vector<std::int64_t> counts = {array->dims.front()};
    std::vector<Field> fields;
    fields.push_back(array_field(column_name(file, options), std::move(array).value()));
    return of_equal_length(file.name(), std::move(fields), counts);
}

Result<Dataset> open_format(const ByteSource& file, const OpenOptions& options, Format format) {
    switch (format) {
        case Format::npy:
            return one_array(file, options, open_npy(file));
        case Format::idx:
            return one_array(file, options, open_idx(file));
        case Format::npz:
            return open_npz(file, options.arrays);
        case Format::csv:
            return open_csv(file, options.csv);
        case Format::text:
            return open_text(file, options.text);
        case Format::folder:
        case Format::automatic:
            break;
    }
    return fail(ErrorCode::invalid_argument, "name a folder", "`{}` is not a folder", file.name());
}

}  // namespace

Result<Dataset> open_bytes(const ByteSource& file, const OpenOptions& options) {
    if (file.size() == 0)
        return fail(ErrorCode::malformed, "write it again, or name another file", "`{}` is empty",
                    file.name());
    VIRIDIAN_TRY(const std::string beginning, file.text(0, 16));
    if (is_gzip(beginning)) {
        constexpr std::uint64_t most = std::uint64_t{1} << 40;
        VIRIDIAN_TRY(const Unpacked unpacked, unpack(file, Packing::gzip, most));
        VIRIDIAN_TRY(const std::string inside, unpacked.bytes.text(0, 2));
        if (is_gzip(inside))
            return fail(ErrorCode::malformed, "unpack it once with gunzip", "`{}` is compressed twice",
                        file.name());
        return open_bytes(unpacked.bytes, options);
    }
    VIRIDIAN_TRY(const Format format, format_of(file, beginning, options.format));
    VIRIDIAN_TRY(Dataset dataset, open_format(file, options, format));
    dataset.set_format(format);
    return dataset;
}

Result<Dataset> open(const Path& path, const OpenOptions& options) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        if (options.format != Format::automatic && options.format != Format::folder)
            return fail(ErrorCode::invalid_argument, "name a file inside it", "`{}` is a folder, not a {}",
                        path.string(), name_of_format(options.format));
        VIRIDIAN_TRY(Dataset dataset, open_folder(path, options.arrays, options.folder));
        dataset.set_format(Format::folder);
        return dataset;
    }
    VIRIDIAN_TRY(const ByteSource file, ByteSource::open(path));
    return open_bytes(file, options);
}

}  // namespace viridian::data
