#pragma once
// Sorter is an external merge sort of plain records: sorted runs of at most `budget` bytes go to disk, and
// are merged when read back. It is stable: equal records keep the order in which they were added. Memory
// stays near the budget. Runs are written in pieces, packed if `Before` knows how, which saves copies and
// disk time.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "viridian/trace/join/spill.hpp"

namespace viridian::trace {

struct SpillOptions {
    // Bytes of memory for sorting. Joins take as much again at most.
    std::size_t budget = std::size_t{192} << 20;
    Path folder = "/var/tmp";  // for data that does not fit
};

// Sorts records of type `Record`. `Before` is a function object that tells whether one record comes before
// another. Its `key(record)` is a 64-bit number that decides most comparisons. It may have `pack(records,
// std::string&)` and `unpack(std::string_view, records)`; the latter returns false if the bytes were not
// written by `pack` for as many records. Errors of all calls: those of spilling (spill.hpp).
template <class Record, class Before>
class Sorter {
    static_assert(std::is_trivially_copyable_v<Record>);

  public:
    explicit Sorter(SpillOptions options, Before before = {})
        : options_(std::move(options)),
          before_(before),
          capacity_(std::max<std::size_t>(options_.budget / (2 * (sizeof(Record) + sizeof(Keyed))), 2)) {}

    [[nodiscard]] Result<void> add(const Record& record) {
        if (records_.size() == capacity_) VIRIDIAN_TRY(spill());
        records_.push_back(record);
        return {};
    }
    // Ends the adding. Call once, after the last `add` and before the first `next`.
    [[nodiscard]] Result<void> finish() {
        if (runs_.empty()) {
            sort();
            return {};
        }
        VIRIDIAN_TRY(spill());
        std::vector<Record>().swap(records_);
        std::vector<Keyed>().swap(order_);
        const std::size_t share = options_.budget / (2 * sizeof(Record) * runs_.size());
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            runs_[run].window = std::max<std::size_t>(share / piece, 1);
            VIRIDIAN_TRY(runs_[run].refill(*file_, packed_));
            if (!runs_[run].empty()) heap_.push_back(run);
        }
        std::ranges::make_heap(heap_, later());
        return {};
    }
    // Returns the next record in order, which is valid until the next call, or nullptr at the end.
    [[nodiscard]] Result<const Record*> next() {
        if (runs_.empty()) return at_ < records_.size() ? &records_[place(at_++)] : nullptr;
        if (drained_ != none) {
            Run& run = runs_[drained_];
            if (run.empty()) VIRIDIAN_TRY(run.refill(*file_, packed_));
            if (!run.empty()) {
                heap_.push_back(drained_);
                std::ranges::push_heap(heap_, later());
            }
            drained_ = none;
        }
        if (heap_.empty()) return nullptr;
        std::ranges::pop_heap(heap_, later());
        drained_ = heap_.back();
        heap_.pop_back();
        return &runs_[drained_].take();
    }
    [[nodiscard]] std::size_t runs() const { return runs_.size(); }  // on disk; 0: all is in memory

  private:
    static constexpr std::size_t none = ~std::size_t{0};
    static constexpr std::size_t piece = 512;                             // records
    static constexpr std::size_t written_at_once = std::size_t{1} << 18;  // bytes
    static constexpr bool packs =
        requires(std::span<const Record> records, std::string& out) { Before::pack(records, out); };
    struct Run {
        std::uint64_t offset = 0;  // of the next piece on disk
        std::uint64_t left = 0;    // records still on disk
        std::size_t window = 0;    // pieces that are read at once
        std::vector<std::uint32_t> sizes;
        std::size_t next = 0;  // piece
        std::vector<Record> held;
        std::size_t at = 0;

        [[nodiscard]] bool empty() const { return at == held.size(); }
        [[nodiscard]] const Record& front() const { return held[at]; }
        const Record& take() { return held[at++]; }
        Result<void> refill(const SpillFile& file, std::string& packed) {
            const std::size_t pieces = std::min(window, sizes.size() - next);
            held.resize(std::min<std::uint64_t>(pieces * piece, left));
            left -= held.size();
            at = 0;
            std::size_t bytes = 0;
            for (std::size_t i = 0; i < pieces; ++i) bytes += sizes[next + i];
            if constexpr (!packs) {
                VIRIDIAN_TRY(file.read(offset, {reinterpret_cast<char*>(held.data()), bytes}));
            } else {
                packed.resize(bytes);
                VIRIDIAN_TRY(file.read(offset, packed));
                std::string_view rest = packed;
                for (std::size_t i = 0; i < pieces; ++i) {
                    const std::size_t from = i * piece;
                    const bool whole =
                        Before::unpack(rest.substr(0, sizes[next + i]),
                                       std::span(held).subspan(from, std::min(piece, held.size() - from)));
                    invariant(whole, "a sorted run reads as it was written");
                    rest.remove_prefix(sizes[next + i]);
                }
            }
            next += pieces;
            offset += bytes;
            return {};
        }
    };
    [[nodiscard]] auto later() {
        return [this](std::size_t a, std::size_t b) {
            if (before_(runs_[b].front(), runs_[a].front())) return true;
            return !before_(runs_[a].front(), runs_[b].front()) && b < a;
        };
    }
    // Returns the index of the record at position `rank` of the order. The records themselves are not moved.
    [[nodiscard]] std::size_t place(std::size_t rank) const {
        return order_.empty() ? rank : order_[rank].index;
    }
    void sort() {
        order_.clear();
        if (std::ranges::is_sorted(records_, before_)) return;
        order_.reserve(records_.size());
        for (const Record& record : records_)
            order_.push_back({Before::key(record), static_cast<std::uint32_t>(order_.size())});
        std::ranges::sort(order_, [this](const Keyed& a, const Keyed& b) {
            if (a.key != b.key) return a.key < b.key;
            const Record &one = records_[a.index], &other = records_[b.index];
            return before_(one, other) || (!before_(other, one) && a.index < b.index);
        });
    }
    Result<void> spill() {
        if (records_.empty()) return {};
        if (!file_) {
            VIRIDIAN_TRY(SpillFile file, SpillFile::create(options_.folder));
            file_.emplace(std::move(file));
        }
        sort();
        Run run;
        run.offset = file_->size();
        run.left = records_.size();
        std::vector<Record> some;
        packed_.clear();
        for (std::size_t rank = 0; rank < records_.size();) {
            some.clear();
            for (; rank < records_.size() && some.size() < piece; ++rank)
                some.push_back(records_[place(rank)]);
            const std::size_t before = packed_.size();
            if constexpr (packs)
                Before::pack(some, packed_);
            else
                packed_.append(reinterpret_cast<const char*>(some.data()), some.size() * sizeof(Record));
            run.sizes.push_back(static_cast<std::uint32_t>(packed_.size() - before));
            if (packed_.size() < written_at_once && rank < records_.size()) continue;
            VIRIDIAN_TRY(file_->append(packed_));
            packed_.clear();
        }
        runs_.push_back(std::move(run));
        records_.clear();
        return {};
    }

    struct Keyed {
        std::int64_t key;
        std::uint32_t index;
    };
    SpillOptions options_;
    Before before_;
    std::size_t capacity_;
    std::vector<Record> records_;
    std::vector<Keyed> order_;  // of records_; empty: they are in order
    std::size_t at_ = 0;
    std::optional<SpillFile> file_;
    std::string packed_;
    std::vector<Run> runs_;
    std::vector<std::size_t> heap_;
    std::size_t drained_ = none;
};

}  // namespace viridian::trace
