#pragma once
namespace viridian::cli {

// Interrupt handles Ctrl-C and SIGTERM, which cluster managers send before they kill, as long as an object of
// it lives: the first of these signals only sets a flag, so that work can end well; a second one ends the
// program.
class Interrupt {
  public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    // Returns true after the first signal.
    [[nodiscard]] bool asked() const;
};

}  // namespace viridian::cli
