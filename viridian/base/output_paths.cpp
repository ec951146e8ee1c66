#include "viridian/base/output_paths.hpp"

#include "viridian/base/destination.hpp"

namespace viridian {

namespace fs = std::filesystem;

Path resolved(const Path& path) {
    std::error_code unknown;
    const Path full = fs::weakly_canonical(Destination(path).path, unknown);
    return unknown ? path : full;
}

bool same_file(const Path& a, const Path& b) {
    std::error_code unknown;
    return resolved(a) == resolved(b) || fs::equivalent(a, b, unknown);
}

bool lies_in(const Path& path, const Path& folder) {
    std::error_code unknown;
    if (!fs::is_directory(folder, unknown)) return false;
    const Path from = resolved(path).lexically_relative(resolved(folder));
    return !from.empty() && *from.begin() != ".." && from != ".";
}

Result<void> check_all_different(const std::vector<Path>& writes) {
    for (std::size_t i = 0; i < writes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!writes[i].empty() && !writes[j].empty() && same_file(writes[i], writes[j]))
                return fail(ErrorCode::invalid_argument, "choose another name for one of them",
                            "`{}` and `{}` are the same file, and both would be written", writes[j].string(),
                            writes[i].string());
    return {};
}

Result<void> check_replaces_nothing(const std::vector<Path>& writes, const std::vector<Path>& reads) {
    for (const Path& write : writes)
        for (const Path& read : reads)
            if (!write.empty() && !read.empty() && same_file(write, read))
                return fail(ErrorCode::invalid_argument, "choose another name for the output",
                            "writing `{}` would replace `{}`, which this command reads", write.string(),
                            read.string());
    return {};
}

}  // namespace viridian
