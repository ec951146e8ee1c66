#pragma once
// Records the accelerator's work of this process as a trace, by NVIDIA's CUPTI (cupti_api.hpp), for
// Viridian's own runs. A process has one recording at a time.
#include <memory>
#include <string>

#include "viridian/trace/source.hpp"

namespace viridian::trace {

class CuptiRecorder {
  public:
    // Starts to record with the CUPTI library at the path `library`; if that is empty, the library is found
    // by name. Errors: no_device (no CUPTI here, or it refuses; another recording runs).
    [[nodiscard]] static Result<std::unique_ptr<CuptiRecorder>> start(const std::string& library = {});
    ~CuptiRecorder();
    CuptiRecorder(const CuptiRecorder&) = delete;
    CuptiRecorder& operator=(const CuptiRecorder&) = delete;

    // Waits for work that still runs, ends the recording and returns it. Devices are "cuda:N", lanes are
    // their streams, and times are Unix times.
    [[nodiscard]] std::unique_ptr<Source> finish();

  private:
    CuptiRecorder();
    struct Events;
    std::unique_ptr<Events> events_;
    bool running_ = false;
};

}  // namespace viridian::trace
