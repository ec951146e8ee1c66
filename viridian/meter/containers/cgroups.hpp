#pragma once
// Finds the containers of a machine by their control groups, and reads the CPU time of each. A container is a
// control group whose name holds the container's id (64 hexadecimal digits), as Docker, containerd, CRI-O and
// Podman name them. Both versions of control groups are read (Linux, cgroup-v1/cpuacct.rst and
// cgroup-v2.rst).
#include <optional>
#include <string_view>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/base/units.hpp"

namespace viridian::meter {

struct Container {
    std::string id;   // 64 hexadecimal digits
    std::string pod;  // the unique id of its Kubernetes pod, "" if it belongs to none

    bool operator==(const Container&) const = default;
};

// Returns the container of the control group `path`, which is relative to the hierarchy's root
// ("system.slice/docker-<id>.scope"). Nothing if its last part does not name one.
[[nodiscard]] std::optional<Container> container_of(std::string_view path);

struct ContainerTime {
    Container container;
    Seconds cpu;  // since the container began
};

class Cgroups {
  public:
    // Looks below `root`/sys/fs/cgroup. Errors: file_not_found (no control groups that count CPU time).
    [[nodiscard]] static Result<Cgroups> open(const Path& root);
    // Returns the containers that run now. A container inside a container is a part of the outer one.
    [[nodiscard]] std::vector<ContainerTime> read() const;

  private:
    Cgroups(Path top, bool unified) : top_(std::move(top)), unified_(unified) {}
    void walk(const std::string& path, int depth, std::vector<ContainerTime>& found) const;
    Path top_;
    bool unified_;  // version 2
};

}  // namespace viridian::meter
