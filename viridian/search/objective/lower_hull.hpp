#pragma once
// Finds the lower hull (hull.hpp, 1): its vertices from left to right, and for each piece between two of them
// whether any plan may still lie below it.
#include <chrono>

#include "viridian/search/assign/assign.hpp"
#include "viridian/search/objective/support_lines.hpp"

namespace viridian::search {

class LowerHull {
  public:
    // All problems together end at the time limit of `options`.
    LowerHull(const Instance& instance, const AssignOptions& options, Metric x, Metric y)
        : instance_(&instance), options_(&options), x_(x), y_(y) {}

    struct Vertex {
        double x = 0, y = 0;
        Outcome outcome;
    };
    // Solves for the plan that minimises wx·x + wy·y.
    Result<Vertex> support(double wx, double wy) const;
    // Puts a vertex in its place; false if it is there already.
    bool insert(Vertex vertex);
    // Looks below piece i (between vertices i and i+1); true if a vertex was found there.
    Result<bool> refine(std::size_t i);

    [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
    [[nodiscard]] bool closed(std::size_t piece) const { return closed_[piece]; }
    [[nodiscard]] std::size_t pieces() const { return closed_.size(); }
    // Whether every plan was solved to proof, so that a closed piece is really a bound.
    [[nodiscard]] bool proven() const { return proven_; }

    // The lines that were proven on the way; none of problems in which only direct conversions were
    // considered.
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
