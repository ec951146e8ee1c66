#include "viridian/meter/log/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace viridian::meter {

Result<std::string> gunzip(std::string_view bytes, std::string_view name, std::size_t limit) {
    struct Stream : z_stream {
        Stream() : z_stream{} {}
        ~Stream() { inflateEnd(this); }
        Stream(const Stream&) = delete;
        Stream& operator=(const Stream&) = delete;
    } stream;
    constexpr int gzip_only = 16 + MAX_WBITS;
    invariant(inflateInit2(&stream, gzip_only) == Z_OK, "zlib starts");
    std::string plain;
    constexpr std::size_t piece = std::size_t{1} << 18;
    int status = Z_OK;
    while (status == Z_OK) {
        if (plain.size() + piece > limit)
            return fail(ErrorCode::limit_exceeded, "cut it into parts", "`{}` is larger than {} bytes", name,
                        limit);
        const std::size_t held = plain.size();
        plain.resize(held + piece);
        const auto room = static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1U << 30));
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream.avail_in = room;
        stream.next_out = reinterpret_cast<Bytef*>(plain.data() + held);
        stream.avail_out = static_cast<uInt>(piece);
        status = inflate(&stream, Z_NO_FLUSH);
        bytes.remove_prefix(room - stream.avail_in);
        plain.resize(held + piece - stream.avail_out);
        if (status == Z_BUF_ERROR && !bytes.empty()) status = Z_OK;
        // A file may have several members, as `cat a.gz b.gz` and tools that compress in parallel write it.
        if (status == Z_STREAM_END && is_gzip(bytes)) status = inflateReset(&stream);
    }
    if (status != Z_STREAM_END)
        return fail(ErrorCode::malformed, "copy it again", "`{}` is damaged or cut off", name);
    return plain;
}

}  // namespace viridian::meter
