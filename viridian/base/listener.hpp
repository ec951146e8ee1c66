#pragma once
// Listener is the interface through which long work reports to its caller and asks whether it should stop,
// because the library itself never prints. Every member does nothing unless it is overridden.
#include <string>

namespace viridian {

class Listener {
  public:
    virtual ~Listener() = default;
    // Says what is being done now. It is called often, and only the newest text matters.
    virtual void progress(const std::string& what) { static_cast<void>(what); }
    // Tells something worth knowing, as a whole sentence.
    virtual void note(const std::string& text) { static_cast<void>(text); }
    // Tells, as a whole sentence, what may make the result worse than the user expects.
    virtual void warning(const std::string& text) { static_cast<void>(text); }
    // True if the work should end: a search then returns its best result so far, anything else the error
    // `cancelled`.
    [[nodiscard]] virtual bool cancelled() { return false; }
};

}  // namespace viridian
