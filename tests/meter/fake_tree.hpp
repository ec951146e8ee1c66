#pragma once
// A sysfs and procfs of our own, in a folder that goes away.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace viridian::meter::tests {

class FakeTree {
  public:
    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = folder_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void zone(const std::string& id, const std::string& name, long long energy, long long range) const {
        const std::string folder = "sys/class/powercap/" + id + "/";
        write(folder + "name", name + "\n");
        write(folder + "energy_uj", std::to_string(energy) + "\n");
        write(folder + "max_energy_range_uj", std::to_string(range) + "\n");
    }
    [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }

  private:
    viridian::tests::TemporaryFolder folder_;
};

}  // namespace viridian::meter::tests
