#pragma once
// Writes the files that tests of room `data` read.
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/data/dataset.hpp"
#include "viridian/data/npy.hpp"
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data::tests {

// A Folder is an empty folder that goes with the test.
class Folder : public viridian::tests::TemporaryFolder {
  public:
    Path write(const std::string& name, std::string_view bytes) const {
        const Path file = *this / name;
        std::filesystem::create_directories(file.parent_path());
        EXPECT_TRUE(write_file(file, bytes).ok());
        return file;
    }
};

// `window` as zlib takes it: -15 for a bare stream, 31 for gzip.
inline std::string deflated(std::string_view plain, int window) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return packed.substr(0, stream.total_out);
}
inline std::string gzip(std::string_view plain) { return deflated(plain, 31); }

inline std::string little(std::uint64_t number, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xffU);
    return text;
}
inline std::string big(std::uint64_t number, int bytes) {
    std::string text = little(number, bytes);
    return {text.rbegin(), text.rend()};
}

struct ZipEntry {
    std::string name, plain;
    bool deflate = false;
};
// A zip archive; with `zip64` all sizes stand in its 64-bit records.
inline std::string zip_archive(const std::vector<ZipEntry>& entries, bool zip64 = false) {
    std::string archive, directory;
    for (const ZipEntry& entry : entries) {
        const std::string packed = entry.deflate ? deflated(entry.plain, -15) : entry.plain;
        const auto crc = crc32(0, reinterpret_cast<const Bytef*>(entry.plain.data()),
                               static_cast<uInt>(entry.plain.size()));
        const std::string start = little(zip64 ? 45 : 20, 2) + little(0, 2) +
                                  little(entry.deflate ? 8 : 0, 2) + little(0, 4) + little(crc, 4);
        const auto size = [&](std::uint64_t bytes) { return little(zip64 ? 0xffffffff : bytes, 4); };
        const std::string sizes = little(entry.plain.size(), 8) + little(packed.size(), 8);
        const std::string local_extra = zip64 ? little(1, 2) + little(16, 2) + sizes : "";
        const std::string extra =
            zip64 ? little(1, 2) + little(24, 2) + sizes + little(archive.size(), 8) : "";
        directory += "PK\x01\x02" + little(45, 2) + start + size(packed.size()) + size(entry.plain.size()) +
                     little(entry.name.size(), 2) + little(extra.size(), 2) + little(0, 2) + little(0, 2) +
                     little(0, 2) + little(0, 4) + size(archive.size()) + entry.name + extra;
        archive += "PK\x03\x04" + start + size(packed.size()) + size(entry.plain.size()) +
                   little(entry.name.size(), 2) + little(local_extra.size(), 2) + entry.name + local_extra +
                   packed;
    }
    const std::uint64_t at = archive.size();
    archive += directory;
    const std::uint64_t count = entries.size();
    if (zip64) {
        const std::uint64_t record = archive.size();
        archive += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) +
                   little(0, 4) + little(count, 8) + little(count, 8) + little(directory.size(), 8) +
                   little(at, 8);
        archive += "PK\x06\x07" + little(0, 4) + little(record, 8) + little(1, 4);
    }
    archive += "PK\x05\x06" + little(0, 4) + little(zip64 ? 0xffff : count, 2) +
               little(zip64 ? 0xffff : count, 2) + little(zip64 ? 0xffffffff : directory.size(), 4) +
               little(zip64 ? 0xffffffff : at, 4) + little(0, 2);
    return archive;
}

// An IDX file of bytes.
inline std::string idx_bytes(const std::vector<std::uint32_t>& dims, std::string_view elements) {
    std::string file = std::string(2, '\0') + '\x08' + static_cast<char>(dims.size());
    for (const std::uint32_t dimension : dims) file += big(dimension, 4);
    return file + std::string(elements);
}

// f32 numbers 0, 1, 2, ... of these dimensions.
inline graph::Tensor counting(graph::Dims dims) {
    graph::Tensor tensor(graph::ElementType::f32, std::move(dims));
    float next = 0;
    for (float& number : tensor.mutable_values<float>()) number = next++;
    return tensor;
}
inline graph::Tensor counting_labels(std::int64_t count, std::int64_t classes) {
    graph::Tensor tensor(graph::ElementType::i64, {count});
    for (std::int64_t i = 0; i < count; ++i)
        tensor.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = i % classes;
    return tensor;
}

// The values of samples as numbers, in order.
inline std::vector<double> numbers(const Dataset& dataset, const std::string& column,
                                   const std::vector<std::int64_t>& samples) {
    const auto index = dataset.find(column);
    EXPECT_TRUE(index.ok());
    const auto tensor = dataset.read(*index, samples);
    EXPECT_TRUE(tensor.ok()) << (tensor.ok() ? "" : tensor.error().text());
    std::vector<double> values;
    for (std::int64_t i = 0; tensor.ok() && i < tensor->count(); ++i) values.push_back(tensor->number(i));
    return values;
}

// "message; next step" of an error, or "no error".
template <class T>
std::string error_of(const Result<T>& result) {
    return result.ok() ? "no error" : result.error().message + "; " + result.error().next_step;
}

}  // namespace viridian::data::tests
