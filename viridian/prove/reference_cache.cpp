#include "viridian/prove/reference_cache.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/base/hash.hpp"
#include "viridian/data/npy.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::prove {
namespace {

namespace fs = std::filesystem;
using graph::Tensor;

constexpr std::string_view magic =
    "VIRREF01";  // then: hash of the rest; per tensor: its bytes' count, its .npy
constexpr std::size_t word = sizeof(std::uint64_t);

std::string as_bytes(std::uint64_t number) {
    std::string bytes(word, '\0');
    std::memcpy(bytes.data(), &number, word);
    return bytes;
}

std::uint64_t take_number(std::string_view& bytes) {
    std::uint64_t number = 0;
    if (bytes.size() < word) return 0;
    std::memcpy(&number, bytes.data(), word);
    bytes.remove_prefix(word);
    return number;
}

std::string entry_name(std::uint64_t graph, const std::vector<Tensor>& inputs, const std::string& build) {
    Hash hash;
    for (const Tensor& input : inputs) hash.add(input.content_hash());
    return fmt::format("{:016x}-{:016x}-{:016x}", graph, hash.value(), Hash().add(build).value());
}

bool fits(const graph::Graph& graph, const std::vector<Tensor>& outputs) {
    if (outputs.size() != graph.outputs().size()) return false;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].type() != graph.value(graph.outputs()[i]).type.element) return false;
    return true;
}

}  // namespace

std::optional<std::vector<Tensor>> ReferenceCache::find(const Path& file) const {
    const Result<std::string> whole = read_file(file, most_);
    if (!whole.ok() || !whole->starts_with(magic)) return std::nullopt;
    std::string_view bytes(*whole);
    bytes.remove_prefix(magic.size());
    const std::uint64_t hash = take_number(bytes);
    if (bytes.empty() || hash != Hash().add(bytes).value()) return std::nullopt;
    std::vector<Tensor> outputs;
    while (!bytes.empty()) {
        const std::uint64_t size = take_number(bytes);
        if (size == 0 || size > bytes.size()) return std::nullopt;
        auto tensor = data::parse_npy(bytes.substr(0, size), file.string());
        if (!tensor.ok()) return std::nullopt;
        outputs.push_back(std::move(*tensor));
        bytes.remove_prefix(size);
    }
    std::error_code ignored;
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
    return outputs;
}

void ReferenceCache::keep(const Path& file, const std::vector<Tensor>& outputs) const {
    std::string payload;
    for (const Tensor& output : outputs) {
        const Result<std::string> bytes = data::npy_bytes(output);
        if (!bytes.ok()) return;  // a type that the format lacks
        payload += as_bytes(bytes->size()) + *bytes;
        if (payload.size() > most_ / 4) return;
    }
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || payload.empty()) return;
    const std::string hash = as_bytes(Hash().add(payload).value());
    if (write_file(file, std::string(magic) + hash + payload).ok()) drop_oldest();
}

void ReferenceCache::drop_oldest() const {
    struct CachedFile {
        fs::file_time_type used;
        std::uint64_t size;
        Path path;
    };
    std::vector<CachedFile> entries;
    std::error_code error;
    for (const auto& item : fs::directory_iterator(folder_, error)) {
        std::error_code gone;  // another process may drop too
        const CachedFile entry{item.last_write_time(gone), item.file_size(gone), item.path()};
        if (!gone) entries.push_back(entry);
    }
    std::ranges::sort(entries, std::greater(), &CachedFile::used);
    std::uint64_t sum = 0;
    for (const CachedFile& entry : entries) {
        sum += entry.size;
        if (sum > most_) fs::remove(entry.path, error);
    }
}

Result<ReferenceOutputs> ReferenceCache::outputs(const graph::Graph& graph, const TensorSets& inputs,
                                                 int threads) const {
    ReferenceOutputs all;
    all.outputs.resize(inputs.size());
    const std::uint64_t hash = graph::structural_hash(graph);
    TensorSets missing;
    std::vector<std::pair<std::size_t, Path>> places;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Path file = folder_ / entry_name(hash, inputs[i], build_);
        auto found = build_.empty() ? std::nullopt : find(file);
        if (found && fits(graph, *found)) {
            all.outputs[i] = std::move(*found);
            ++all.reused;
        } else {
            missing.push_back(inputs[i]);
            places.emplace_back(i, file);
        }
    }
    VIRIDIAN_TRY(TensorSets computed, reference_outputs(graph, missing, threads));
    for (std::size_t i = 0; i < computed.size(); ++i) {
        if (!build_.empty()) keep(places[i].second, computed[i]);
        all.outputs[places[i].first] = std::move(computed[i]);
    }
    return all;
}

}  // namespace viridian::prove
