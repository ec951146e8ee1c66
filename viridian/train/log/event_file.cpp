#include "viridian/train/log/event_file.hpp"

#include <unistd.h>

#include <array>
#include <bit>

#include "viridian/train/crc32c.hpp"
#include "viridian/train/log/append_file.hpp"

namespace viridian::train {
namespace {

// The low `bytes` bytes of a number, the lowest first.
std::string fixed(std::uint64_t number, unsigned bytes) {
    std::string text;
    for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>((number >> (8 * i)) & 0xffU);
    return text;
}

// Protocol buffers, "Encoding": seven bits a byte, the lowest first, and a set high bit if more follow.
std::string varint(std::uint64_t number) {
    std::string text;
    for (; number >= 0x80; number >>= 7U) text += static_cast<char>((number & 0x7fU) | 0x80U);
    return text + static_cast<char>(number);
}

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
std::string key_of(unsigned field, Wire wire) { return varint((field << 3U) | static_cast<unsigned>(wire)); }
std::string bytes_field(unsigned field, std::string_view bytes) {
    return key_of(field, Wire::bytes) + varint(bytes.size()) + std::string(bytes);
}

// The checksum is masked so that the checksum of data that hold checksums is no special value.
std::string masked_checksum(std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return fixed(std::rotr(crc, 15) + 0xa282ead8U, 4);
}

std::string record_of(std::string_view event) {
    const std::string length = fixed(event.size(), 8);
    return length + masked_checksum(length) + std::string(event) + masked_checksum(event);
}

// Event: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5 (message).
std::string event_head(Seconds wall) {
    return key_of(1, Wire::fixed64) + fixed(std::bit_cast<std::uint64_t>(wall.value), 8);
}

}  // namespace

std::string version_event(Seconds wall) {
    return record_of(event_head(wall) + bytes_field(3, "brain.Event:2"));
}

// Summary: repeated value = 1. Value: tag = 1 (string), simple_value = 2 (float).
std::string scalar_event(Seconds wall, std::int64_t step, std::span<const Scalar> scalars) {
    std::string summary;
    for (const Scalar& scalar : scalars)
        summary +=
            bytes_field(1, bytes_field(1, scalar.tag) + key_of(2, Wire::fixed32) +
                               fixed(std::bit_cast<std::uint32_t>(static_cast<float>(scalar.value)), 4));
    return record_of(event_head(wall) + key_of(2, Wire::varint) + varint(static_cast<std::uint64_t>(step)) +
                     bytes_field(5, summary));
}

std::vector<Scalar> scalars_of(const StepRecord& record) {
    std::vector<Scalar> scalars = {{"loss/train", record.loss}, {"rate", record.rate}};
    if (record.seconds.value > 0) scalars.push_back({"samples_per_second", record.samples_per_second()});
    if (record.gradient_norm) scalars.push_back({"gradient_norm", *record.gradient_norm});
    if (record.energy) {
        const std::string text = record.energy->provenance.text();
        const std::string kind = text.substr(0, text.find(':'));
        scalars.push_back({"energy/joules_per_step/" + kind, record.energy->value.value});
        if (const auto power = record.power()) scalars.push_back({"energy/watts/" + kind, power->value});
    }
    return scalars;
}

std::vector<Scalar> scalars_of(const EvaluationRecord& record) {
    std::vector<Scalar> scalars = {{"loss/evaluation", record.loss}};
    for (const auto& [name, value] : record.metrics) scalars.push_back({"metric/" + name, value});
    return scalars;
}

Result<EventFile> EventFile::create(const Path& folder, Seconds wall) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return fail(ErrorCode::file_not_writable, "check the folder and its permissions",
                    "the folder `{}` cannot be made: {}", folder.string(), fault.message());
    std::array<char, 256> host{};
    const bool named = ::gethostname(host.data(), host.size() - 1) == 0;
    Path path =
        folder / fmt::format("events.out.tfevents.{:010}.{}.{}", static_cast<std::int64_t>(wall.value),
                             named ? host.data() : "host", ::getpid());
    VIRIDIAN_TRY(auto file, open_to_append(path));
    VIRIDIAN_TRY(append(*file, path, version_event(wall)));
    return EventFile(std::move(path), std::move(file));
}

Result<void> EventFile::add(Seconds wall, std::int64_t step, std::span<const Scalar> scalars) {
    return append(*file_, path_, scalar_event(wall, step, scalars));
}

}  // namespace viridian::train
