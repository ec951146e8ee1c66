#pragma once
// A LowerHull finds the lower hull (hull.hpp, 1): its vertices from left to right, and for each piece
// between two of them whether a plan may still lie below it.
#include <chrono>

#include "viridian/search/assign/assign.hpp"
#include "viridian/search/objective/support_lines.hpp"

namespace viridian::search {

class LowerHull {
  public:
    // Prepares to find the hull of the plans of `instance` in the plane of the metrics `x` and `y`; the hull
    // has no vertex yet. `instance` and `options` must outlive the object. All problems together end at the
    // time limit of `options`.
    LowerHull(const Instance& instance, const AssignOptions& options, Metric x, Metric y)
        : instance_(&instance), options_(&options), x_(x), y_(y) {}

    // A Vertex is a plan on the hull.
    struct Vertex {
        double x = 0, y = 0;
        Outcome outcome;
    };
    // Returns the plan that minimises wx·x + wy·y. Errors: those of solve_additive.
    Result<Vertex> support(double wx, double wy) const;
    // Puts `vertex` in its place. Returns false if it is there already.
    bool insert(Vertex vertex);
    // Looks below piece `i`, between vertices i and i + 1. Returns true if it found a vertex there;
    // otherwise it closes the piece.
    Result<bool> refine(std::size_t i);

    [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
    // Returns whether nothing was found below the piece.
    [[nodiscard]] bool closed(std::size_t piece) const { return closed_[piece]; }
    [[nodiscard]] std::size_t pieces() const { return closed_.size(); }
    // Returns whether every plan was solved to proof, so that a closed piece is really a bound.
    [[nodiscard]] bool proven() const { return proven_; }

    // Returns the lines that were proven on the way, except those of problems in which not all conversions
    // were considered.
    [[nodiscard]] const std::vector<SupportLine>& lines() const { return lines_; }
    // Returns how much of the time limit is left; the value is negative after the limit.
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
