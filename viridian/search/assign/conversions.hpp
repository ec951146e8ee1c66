#pragma once
// Finds the cheapest ways to make one value available in several formats at once (docs/method.md, 3): a small
// Steiner tree over conversions, rooted at the format that the producer writes. Trees are chosen by time,
// then energy, whatever the objective, so that a plan's totals do not depend on how they were weighed.
#include <functional>
#include <span>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/search/metrics.hpp"

namespace viridian::search {

using FormatId = std::uint32_t;  // a number that an Instance gives each format

class Conversions {
  public:
    struct Edge {
        FormatId from = 0, to = 0;
    };
    using Set = std::uint64_t;  // bit i: wanted()[i] is available
    static constexpr std::size_t most_formats = 12;

    using PriceOf = std::function<Result<Metrics>(FormatId from, FormatId to)>;  // or Metrics::impossible()
    // `made` is what producers may write, `wanted` what readers may ask for. If more than `most_formats` are
    // wanted, only direct conversions are considered. Errors: those of `price`; limit_exceeded.
    static Result<Conversions> make(std::vector<FormatId> made, std::vector<FormatId> wanted,
                                    const PriceOf& price);

    [[nodiscard]] const std::vector<FormatId>& made() const { return made_; }
    [[nodiscard]] const std::vector<FormatId>& wanted() const { return wanted_; }
    [[nodiscard]] std::size_t made_index(FormatId format) const;
    [[nodiscard]] Set bit(FormatId wanted) const;
    // By source (made, then wanted), by wanted.
    [[nodiscard]] const std::vector<std::vector<Metrics>>& prices() const { return prices_; }
    [[nodiscard]] bool trees() const { return wanted_.size() <= most_formats; }

    [[nodiscard]] const Metrics& direct(FormatId from, FormatId to) const;  // nothing if they are equal
    // Cost of making every format of `set` from `from`; impossible() if it cannot be done.
    [[nodiscard]] Metrics cost(FormatId from, Set set) const;
    [[nodiscard]] std::vector<Edge> tree(FormatId from,
                                         Set set) const;  // sources before what is made of them
    // As cost() and tree(), by direct conversions only.
    [[nodiscard]] Metrics star_cost(FormatId from, Set set) const;
    [[nodiscard]] std::vector<Edge> star(FormatId from, Set set) const;

  private:
    // The cheapest way to make exactly `set` from one producer's format: the last format added, and from
    // which.
    struct Cell {
        Metrics cost;
        FormatId from = 0, to = 0;
        Set best = 0;  // the superset whose cell is cheapest: the Steiner tree's vertices
    };
    void grow(std::size_t root);

    std::vector<FormatId> made_, wanted_;
    std::vector<std::vector<Metrics>> prices_;
    std::vector<std::vector<Cell>> cells_;  // by made, by set
};

}  // namespace viridian::search
