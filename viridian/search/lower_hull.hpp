#pragma once
// The lower hull as it is being found: vertices from left to right, and for each piece between two of them
// whether anything may still lie below it.
#include <chrono>

#include "viridian/search/assign.hpp"
#include "viridian/search/support_lines.hpp"

namespace viridian::search {

class LowerHull {
  public:
    // The time limit of `options` is that of all problems together.
    LowerHull(const Instance& instance, const AssignOptions& options, Metric x, Metric y)
        : instance_(&instance), options_(&options), x_(x), y_(y) {}

    struct Vertex {
        double x = 0, y = 0;
        Outcome outcome;
    };
    // The plan that minimises wx·x + wy·y.
    Result<Vertex> support(double wx, double wy) const;
    // A vertex in its place; false where it is one that is there already.
    bool insert(Vertex vertex);
    // Looks below piece i (between vertices i and i+1); true if a vertex was found there.
    Result<bool> refine(std::size_t i);

    [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
    [[nodiscard]] bool closed(std::size_t piece) const { return closed_[piece]; }
    [[nodiscard]] std::size_t pieces() const { return closed_.size(); }
    // Every plan was solved to proof, so that a closed piece is really a bound.
    [[nodiscard]] bool proven() const { return proven_; }

    // What was proven on the way; none where only direct conversions were looked at.
    [[nodiscard]] const std::vector<SupportLine>& lines() const { return lines_; }
    [[nodiscard]] Seconds left() const;

  private:
    const Instance* instance_;
    const AssignOptions* options_;
    Metric x_, y_;
    std::vector<Vertex> vertices_;
    std::vector<bool> closed_;  // by piece
    mutable bool proven_ = true;
    mutable std::vector<SupportLine> lines_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace viridian::search
