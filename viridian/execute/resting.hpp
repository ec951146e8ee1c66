#pragma once
// Resting is what an executable can do that frees memory between runs. Training has an executable for each
// size of batch, of which one is at work.

namespace viridian::execute {

class Executable;

class Resting {
  public:
    virtual ~Resting() = default;
    // Frees the memory of states and activations, while nobody runs. Before the next run every state has to
    // be set, and memory is allocated anew.
    virtual void rest() = 0;
};

// Lets `executable` rest, if it can.
void rest(Executable& executable);

}  // namespace viridian::execute
