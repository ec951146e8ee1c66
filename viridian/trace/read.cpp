#include "viridian/trace/read.hpp"

#include <algorithm>

#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/bytes.hpp"
#include "viridian/trace/formats/formats.hpp"
#include "viridian/trace/json/json_source.hpp"

namespace viridian::trace {
namespace {

constexpr std::size_t looked_at = std::size_t{1} << 20;

Result<std::unique_ptr<Source>> open_any(std::unique_ptr<Bytes> bytes, std::string name,
                                         const ReadOptions& options) {
    std::string first(std::min(looked_at, bytes->most_left()), '\0');
    VIRIDIAN_TRY(const std::size_t count, bytes->read(first));
    first.resize(count);
    if (count == 0 && !bytes->damage().empty())
        return fail(ErrorCode::malformed, "copy it again", "nothing of `{}` can be read: {}", name,
                    bytes->damage());
    if (count == 0) return fail(ErrorCode::malformed, "record it again", "`{}` is empty", name);
    if (is_binary(first))
        return binary_source(replay(std::move(first), std::move(bytes)), std::move(name), options);
    const Sample sample = sample_of(first);
    if (sample.events == 0 && sample.top.empty() && first.find_first_of("[{") == std::string::npos)
        return fail(ErrorCode::malformed,
                    "give a profiler's trace: JSON (plain, gzip, zstd) or Viridian's own",
                    "`{}` is not a trace", name);
    const auto format =
        std::ranges::find_if(formats(), [&](const Format& one) { return one.recognises(sample); });
    return json_source(replay(std::move(first), std::move(bytes)), *format, std::move(name), options);
}

}  // namespace

Result<std::unique_ptr<Source>> open(const Path& path, const ReadOptions& options) {
    VIRIDIAN_TRY(std::unique_ptr<Bytes> bytes, open_bytes(path));
    return open_any(std::move(bytes), path.filename().string(), options);
}

Result<std::unique_ptr<Source>> open_text(std::string_view text, std::string_view name,
                                          const ReadOptions& options) {
    return open_any(bytes_of(text), std::string(name), options);
}

}  // namespace viridian::trace
