#include "viridian/cli/model/files_read.hpp"

namespace viridian::cli {

namespace fs = std::filesystem;

std::vector<Path> files_read(const session::ModelOptions& options, const std::vector<std::string>& inputs) {
    std::vector<Path> files = {options.model, options.database};
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

}  // namespace viridian::cli
