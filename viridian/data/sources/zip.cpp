#include "viridian/data/sources/zip.hpp"

#include <algorithm>

#include "viridian/data/sources/inflate.hpp"

namespace viridian::data {
namespace {

constexpr std::uint64_t most_directory = std::uint64_t{1} << 28;

Error bad_zip(const ByteSource& archive, std::string_view what) {
    return fail(ErrorCode::malformed, "copy it again, or write it again with numpy.savez",
                "`{}` is a damaged zip archive: {}", archive.name(), what);
}

// A number of `size` bytes, least significant first. The caller has checked the bounds.
std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
        number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return number;
}

struct Directory {
    std::uint64_t offset = 0, size = 0, members = 0;
};

// The end record of zip64, to which a locator before the ordinary end record points.
Result<Directory> find_zip64_directory(const ByteSource& archive, std::uint64_t end_record) {
    constexpr std::size_t locator_size = 20, record_size = 56;
    if (end_record < locator_size) return bad_zip(archive, "its zip64 record is missing");
    VIRIDIAN_TRY(const std::string locator, archive.text(end_record - locator_size, locator_size));
    if (!locator.starts_with("PK\x06\x07")) return bad_zip(archive, "its zip64 record is missing");
    const std::uint64_t at = zip_number(locator, 8, 8);
    if (at > archive.size() || archive.size() - at < record_size)
        return bad_zip(archive, "its zip64 record lies outside");
    VIRIDIAN_TRY(const std::string record, archive.text(at, record_size));
    if (!record.starts_with("PK\x06\x06")) return bad_zip(archive, "its zip64 record is missing");
    return Directory{zip_number(record, 48, 8), zip_number(record, 40, 8), zip_number(record, 32, 8)};
}

Result<Directory> find_directory(const ByteSource& archive) {
    constexpr std::size_t record_size = 22, longest_comment = 65535;
    const std::uint64_t tail = std::min<std::uint64_t>(archive.size(), record_size + longest_comment);
    VIRIDIAN_TRY(const std::string bytes, archive.text(archive.size() - tail, tail));
    std::size_t at = bytes.size() < record_size ? std::string::npos : bytes.size() - record_size;
    while (at != std::string::npos) {
        at = bytes.rfind("PK\x05\x06", at);
        if (at == std::string::npos || at + record_size + zip_number(bytes, at + 20, 2) == bytes.size())
            break;
        at = at == 0 ? std::string::npos : at - 1;
    }
    if (at == std::string::npos) return bad_zip(archive, "its directory is missing, so it is cut off");
    if (zip_number(bytes, at + 4, 2) != zip_number(bytes, at + 6, 2))
        return fail(ErrorCode::unsupported, "write it as one file",
                    "`{}` is one of several parts of a zip archive", archive.name());
    Directory found{zip_number(bytes, at + 16, 4), zip_number(bytes, at + 12, 4),
                    zip_number(bytes, at + 10, 2)};
    if (found.offset == 0xffffffff || found.size == 0xffffffff || found.members == 0xffff) {
        VIRIDIAN_TRY(found, find_zip64_directory(archive, archive.size() - tail + at));
    }
    if (found.size > most_directory || found.offset > archive.size() ||
        found.size > archive.size() - found.offset)
        return bad_zip(archive, "its directory lies outside");
    return found;
}

// The extra field 1 holds, in this order, those numbers for which the ordinary fields are too small.
bool read_zip64_extra(std::string_view extra, ZipMember& member) {
    while (extra.size() >= 4) {
        const std::uint64_t id = zip_number(extra, 0, 2), size = zip_number(extra, 2, 2);
        if (size > extra.size() - 4) return false;
        if (id == 1) {
            std::string_view numbers = extra.substr(4, size);
            for (std::uint64_t* field : {&member.plain, &member.packed, &member.header}) {
                if (*field != 0xffffffff) continue;
                if (numbers.size() < 8) return false;
                *field = zip_number(numbers, 0, 8);
                numbers.remove_prefix(8);
            }
        }
        extra.remove_prefix(4 + size);
    }
    return true;
}

}  // namespace

Result<std::vector<ZipMember>> zip_members(const ByteSource& archive) {
    constexpr std::size_t entry_size = 46;
    VIRIDIAN_TRY(const Directory directory, find_directory(archive));
    VIRIDIAN_TRY(const std::string bytes, archive.text(directory.offset, directory.size));
    std::string_view rest(bytes);
    std::vector<ZipMember> members;
    for (std::uint64_t i = 0; i < directory.members; ++i) {
        if (rest.size() < entry_size || !rest.starts_with("PK\x01\x02"))
            return bad_zip(archive, "its directory ends too early");
        const std::uint64_t name = zip_number(rest, 28, 2), extra = zip_number(rest, 30, 2),
                            comment = zip_number(rest, 32, 2);
        if (rest.size() - entry_size < name + extra + comment)
            return bad_zip(archive, "its directory ends too early");
        ZipMember member;
        member.name = rest.substr(entry_size, name);
        member.method = static_cast<std::uint16_t>(zip_number(rest, 10, 2));
        member.crc = static_cast<std::uint32_t>(zip_number(rest, 16, 4));
        member.packed = zip_number(rest, 20, 4);
        member.plain = zip_number(rest, 24, 4);
        member.header = zip_number(rest, 42, 4);
        if (!read_zip64_extra(rest.substr(entry_size + name, extra), member))
            return bad_zip(archive, fmt::format("the sizes of `{}` are missing", member.name));
        if ((zip_number(rest, 8, 2) & 1U) != 0)
            return fail(ErrorCode::unsupported, "write it without a password", "`{}` in `{}` is encrypted",
                        member.name, archive.name());
        members.push_back(std::move(member));
        rest.remove_prefix(entry_size + name + extra + comment);
    }
    return members;
}

Result<ByteSource> open_member(const ByteSource& archive, const ZipMember& member, std::string name) {
    constexpr std::size_t header_size = 30;
    if (member.header > archive.size() || archive.size() - member.header < header_size)
        return bad_zip(archive, fmt::format("`{}` lies outside", member.name));
    VIRIDIAN_TRY(const std::string header, archive.text(member.header, header_size));
    if (!header.starts_with("PK\x03\x04"))
        return bad_zip(archive, fmt::format("the header of `{}` is missing", member.name));
    const std::uint64_t start =
        member.header + header_size + zip_number(header, 26, 2) + zip_number(header, 28, 2);
    if (start > archive.size() || member.packed > archive.size() - start)
        return bad_zip(archive, fmt::format("`{}` is cut off", member.name));
    const ByteSource packed = archive.part(start, member.packed, std::move(name));
    if (member.method == 0 && member.packed == member.plain) return packed;
    if (member.method == 0) return bad_zip(archive, fmt::format("`{}` has two sizes", member.name));
    if (member.method != 8)
        return fail(ErrorCode::unsupported, "write it again with numpy.savez_compressed",
                    "`{}` is compressed by method {}, which is not deflate", packed.name(), member.method);
    VIRIDIAN_TRY(Unpacked unpacked, unpack(packed, Packing::deflate, member.plain));
    if (unpacked.bytes.size() != member.plain || unpacked.crc != member.crc)
        return bad_zip(archive, fmt::format("the checksum of `{}` is wrong", member.name));
    return std::move(unpacked.bytes);
}

}  // namespace viridian::data
