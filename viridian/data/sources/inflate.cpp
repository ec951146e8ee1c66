#include "viridian/data/sources/inflate.hpp"

#include <zlib.h>

#include <algorithm>

#include "viridian/data/sources/spool.hpp"

namespace viridian::data {
namespace {

constexpr std::size_t inflate_piece = std::size_t{1} << 18;

class Inflater {
  public:
    Inflater(const ByteSource& packed, Packing packing)
        : packed_(packed), packing_(packing), in_(inflate_piece, '\0'), out_(inflate_piece, '\0') {
        const int window = packing == Packing::gzip ? 16 + MAX_WBITS : -MAX_WBITS;
        invariant(inflateInit2(&stream_, window) == Z_OK, "zlib starts");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    Result<Unpacked> run(std::uint64_t limit) {
        Spool spool(packed_.name());
        uLong crc = crc32(0, nullptr, 0);
        for (bool more = true; more;) {
            VIRIDIAN_TRY(refill());
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
            stream_.avail_out = static_cast<uInt>(out_.size());
            const int status = inflate(&stream_, Z_NO_FLUSH);
            const std::size_t made = out_.size() - stream_.avail_out;
            if (spool.size() + made > limit)
                return fail(ErrorCode::limit_exceeded, "check that it is the right file",
                            "`{}` unpacks to more than {} bytes", packed_.name(), limit);
            crc = crc32(crc, reinterpret_cast<const Bytef*>(out_.data()), static_cast<uInt>(made));
            VIRIDIAN_TRY(spool.append(std::as_bytes(std::span(out_.data(), made))));
            if (status == Z_STREAM_END) {
                VIRIDIAN_TRY(more, another_member());
            } else if (status != Z_OK) {
                return damaged();
            }
        }
        return Unpacked{spool.finish(), static_cast<std::uint32_t>(crc)};
    }

  private:
    Error damaged() const {
        return fail(ErrorCode::malformed, "copy or write the file again",
                    "the compressed data of `{}` is damaged or cut off", packed_.name());
    }

    Result<void> refill() {
        if (stream_.avail_in > 0) return {};
        const std::size_t size = std::min<std::uint64_t>(in_.size(), packed_.size() - at_);
        VIRIDIAN_TRY(packed_.read(at_, std::as_writable_bytes(std::span(in_.data(), size))));
        at_ += size;
        stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
        stream_.avail_in = static_cast<uInt>(size);
        return {};
    }

    Result<bool> another_member() {
        if (stream_.avail_in == 0 && at_ == packed_.size()) return false;
        if (packing_ == Packing::deflate || inflateReset(&stream_) != Z_OK) return damaged();
        return true;
    }

    const ByteSource& packed_;
    Packing packing_;
    z_stream stream_{};
    std::uint64_t at_ = 0;
    std::string in_, out_;
};

}  // namespace

Result<Unpacked> unpack(const ByteSource& packed, Packing packing, std::uint64_t limit) {
    return Inflater(packed, packing).run(limit);
}

}  // namespace viridian::data
