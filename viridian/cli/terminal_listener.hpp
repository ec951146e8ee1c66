#pragma once
// TerminalListener shows the progress and the notes of long work on stderr, and lets Ctrl-C end the work.
#include "viridian/base/listener.hpp"
#include "viridian/cli/interrupt.hpp"
#include "viridian/cli/progress.hpp"

namespace viridian::cli {

class TerminalListener final : public Listener {
  public:
    void progress(const std::string& what) override { progress_.show(what); }
    void note(const std::string& text) override;
    void warning(const std::string& text) override { warning_line("warning: " + text); }
    bool cancelled() override { return interrupt_.asked(); }

  private:
    void warning_line(const std::string& text);
    Progress progress_;
    Interrupt interrupt_;
};

}  // namespace viridian::cli
