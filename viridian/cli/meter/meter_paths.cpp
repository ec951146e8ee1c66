#include "viridian/cli/meter/meter_paths.hpp"

#include <cctype>
#include <cstdlib>

#include "viridian/meter/meters/list.hpp"

namespace viridian::cli {
namespace {

std::string_view variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

}  // namespace

meter::MeterPaths meter_paths() {
    meter::MeterPaths paths;
    for (const meter::Row& row : meter::rows()) {
        std::string name = "VIRIDIAN_";
        for (const char c : row.name) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if (const std::string_view path = variable(name); !path.empty()) paths.of.emplace(row.name, path);
    }
    if (const std::string_view root = variable("VIRIDIAN_ROOT"); !root.empty()) paths.root = root;
    return paths;
}

}  // namespace viridian::cli
