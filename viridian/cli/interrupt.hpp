#pragma once
namespace viridian::cli {

// Interrupt handles Ctrl-C as long as an object of it lives: the first Ctrl-C only sets a flag, so that work
// can end well; a second one ends the program.
class Interrupt {
  public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    // Returns true after the first Ctrl-C.
    [[nodiscard]] bool asked() const;
};

}  // namespace viridian::cli
