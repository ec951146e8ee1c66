#pragma once
// A ReservedSpace keeps room on a disk for a file that is written later, so that hours of work do not end at
// a full disk. The room belongs to a file without a name: it is free again when the object or the process
// ends, however it ends.
#include <cstdint>
#include <memory>

#include "viridian/base/file.hpp"

namespace viridian {

class ReservedSpace {
  public:
    // Reserves `bytes` in the folder of `file`; nothing for a device or a pipe. If the file system cannot
    // reserve, it is only checked that the room is there now. Errors: disk_full, file_not_writable.
    [[nodiscard]] static Result<ReservedSpace> make(const Path& file, std::uint64_t bytes);
    // Frees the room, for the file that it was kept for.
    void release() { file_.reset(); }

  private:
    std::shared_ptr<const int> file_;
};

}  // namespace viridian
