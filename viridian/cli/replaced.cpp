#include "viridian/cli/replaced.hpp"

#include "viridian/base/destination.hpp"

namespace viridian::cli {

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

std::vector<Path> files_read(const ModelOptions& options, const std::vector<std::string>& inputs) {
    std::vector<Path> files = {options.model, database_path(options)};
    for (const std::string& text : inputs) {
        std::error_code none;
        if (fs::is_directory(text, none)) {
            for (const fs::directory_entry& entry : fs::directory_iterator(text, none))
                files.push_back(entry.path());
            continue;
        }
        files.emplace_back(text);
        if (const auto equals = text.find('='); equals != std::string::npos)
            files.emplace_back(text.substr(equals + 1));
    }
    return files;
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

}  // namespace viridian::cli
