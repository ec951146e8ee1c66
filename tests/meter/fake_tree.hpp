#pragma once
// A sysfs and procfs of our own, in a folder that goes away.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace viridian::meter::tests {

class FakeTree {
  public:
    FakeTree() {
        std::string name = (std::filesystem::temp_directory_path() / "viridian-meter-XXXXXX").string();
        root_ = ::mkdtemp(name.data());
    }
    ~FakeTree() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    FakeTree(const FakeTree&) = delete;
    FakeTree& operator=(const FakeTree&) = delete;

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void zone(const std::string& id, const std::string& name, long long energy, long long range) const {
        const std::string folder = "sys/class/powercap/" + id + "/";
        write(folder + "name", name + "\n");
        write(folder + "energy_uj", std::to_string(energy) + "\n");
        write(folder + "max_energy_range_uj", std::to_string(range) + "\n");
    }
    [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  private:
    std::filesystem::path root_;
};

}  // namespace viridian::meter::tests
