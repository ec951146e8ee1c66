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

using FormatId = std::uint32_t;  // the number that an Instance gives a format

class Conversions {
  public:
    // An Edge is one conversion.
    struct Edge {
        FormatId from = 0, to = 0;
    };
    using Set = std::uint64_t;  // bit i: wanted()[i] is available
    static constexpr std::size_t most_formats = 12;

    // Returns the price of a conversion, or Metrics::impossible() if there is none.
    using PriceOf = std::function<Result<Metrics>(FormatId from, FormatId to)>;
    // Prices the conversions of a value and finds the trees. `made` lists the formats that producers may
    // write, `wanted` those that readers may ask for. If more than `most_formats` are wanted, only direct
    // conversions are considered. Errors: those of `price`; limit_exceeded (more than 64 formats are
    // wanted).
    static Result<Conversions> make(std::vector<FormatId> made, std::vector<FormatId> wanted,
                                    const PriceOf& price);

    [[nodiscard]] const std::vector<FormatId>& made() const { return made_; }
    [[nodiscard]] const std::vector<FormatId>& wanted() const { return wanted_; }
    // Returns the position of `format` in made().
    [[nodiscard]] std::size_t made_index(FormatId format) const;
    // Returns the set that holds `wanted` alone.
    [[nodiscard]] Set bit(FormatId wanted) const;
    // Returns the prices of direct conversions, by source (the made formats, then the wanted ones) and by
    // wanted format. The rows of wanted sources are missing if trees() is false.
    [[nodiscard]] const std::vector<std::vector<Metrics>>& prices() const { return prices_; }
    // Returns whether conversions through other formats are considered.
    [[nodiscard]] bool trees() const { return wanted_.size() <= most_formats; }

    [[nodiscard]] const Metrics& direct(FormatId from, FormatId to) const;  // zero if they are equal
    // Returns the cost of making every format of `set` from `from`; impossible() if it cannot be done.
    [[nodiscard]] Metrics cost(FormatId from, Set set) const;
    // Returns the conversions that cost() prices; each comes after the one that makes its source.
    [[nodiscard]] std::vector<Edge> tree(FormatId from, Set set) const;
    // These do the same as cost() and tree(), by direct conversions only.
    [[nodiscard]] Metrics star_cost(FormatId from, Set set) const;
    [[nodiscard]] std::vector<Edge> star(FormatId from, Set set) const;

  private:
    // A Cell is the cheapest way to make exactly one set from one producer's format: its cost, and the last
    // conversion.
    struct Cell {
        Metrics cost;
        FormatId from = 0, to = 0;
        Set best = 0;  // the cheapest set that contains this one, and whose tree therefore makes it
    };
    // Fills the cells of the made format number `root`.
    void grow(std::size_t root);

    std::vector<FormatId> made_, wanted_;
    std::vector<std::vector<Metrics>> prices_;
    std::vector<std::vector<Cell>> cells_;  // by made, by set
};

}  // namespace viridian::search
