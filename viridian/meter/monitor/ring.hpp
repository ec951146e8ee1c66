#pragma once
// A Ring holds the last samples of all meters; a full ring overwrites the oldest. A reader keeps its own
// place in the sequence and compares it with begin() to learn how many samples it missed. The ring has no
// lock: its owner, Monitor, has one.
#include <cstdint>
#include <vector>

#include "viridian/meter/sample.hpp"

namespace viridian::meter {

struct RingSample {
    Sample sample;
    std::uint64_t owner = 0;  // number of the session whose process it is about; 0: it is for all sessions
};

class Ring {
  public:
    // Holds at most `capacity` samples, which is at least 1.
    explicit Ring(std::size_t capacity) : capacity_(capacity) {}
    void push(const RingSample& sample) {
        if (samples_.size() < capacity_)
            samples_.push_back(sample);
        else
            samples_[static_cast<std::size_t>(end_ % capacity_)] = sample;
        ++end_;
    }
    // The ring holds the samples at the places from `begin` to `end` - 1. Places count all samples ever
    // pushed.
    [[nodiscard]] std::uint64_t end() const { return end_; }
    [[nodiscard]] std::uint64_t begin() const { return end_ - samples_.size(); }
    [[nodiscard]] const RingSample& operator[](std::uint64_t place) const {
        return samples_[static_cast<std::size_t>(place % capacity_)];
    }

  private:
    std::size_t capacity_;
    std::vector<RingSample> samples_;
    std::uint64_t end_ = 0;
};

}  // namespace viridian::meter
