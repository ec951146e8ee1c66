#pragma once
// Resting is what an executable can do with its memory between runs. Training has an executable for each size
// of batch, of which one is at work, and one that applies what several batches accumulated.
#include "viridian/base/result.hpp"

namespace viridian::execute {

class Executable;

class Resting {
  public:
    virtual ~Resting() = default;
    // Frees the memory of states and activations, while nobody runs. Before the next run every state has to
    // be set or shared, and memory is allocated anew.
    virtual void rest() = 0;
    // Does what the function below says.
    virtual Result<void> share_states(Executable& owner) = 0;
};

// Lets `executable` rest, if it can.
void rest(Executable& executable);

// Lets the states that both have, by name and type, lie in the memory of `owner`, with the values there,
// until one of the two rests. From then on runs of the two must not overlap. Errors: unsupported (an
// executable that cannot, or of another device), out_of_memory.
Result<void> share_states(Executable& executable, Executable& owner);

}  // namespace viridian::execute
