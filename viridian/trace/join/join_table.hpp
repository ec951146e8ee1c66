#pragma once
// A JoinTable maps 64-bit keys to plain values, for joins over a whole trace. The newest entries are in
// memory; older ones go to disk in runs that are sorted by key and searched by bisection. If a key is added
// again, the new entry hides the old one. Errors of all calls: those of spilling (spill.hpp).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "viridian/trace/join/sorter.hpp"

namespace viridian::trace {

template <class Value>
class JoinTable {
    static_assert(std::is_trivially_copyable_v<Value>);

  public:
    explicit JoinTable(SpillOptions options)
        : options_(std::move(options)),
          capacity_(
              std::max<std::size_t>(options_.budget / (sizeof(KeyedValue) + 4 * sizeof(std::uint32_t)), 4)),
          slots_(16) {}

    [[nodiscard]] Result<void> add(std::uint64_t key, const Value& value) {
        if (entries_.size() >= capacity_) VIRIDIAN_TRY(spill());
        if (entries_.size() * 2 >= slots_.size()) grow();
        std::uint32_t& slot = at(key);
        if (slot == 0) {
            entries_.push_back({key, value});
            slot = static_cast<std::uint32_t>(entries_.size());
        } else {
            entries_[slot - 1].value = value;
        }
        return {};
    }

    // Returns the newest value of `key`, nothing if there is none.
    [[nodiscard]] Result<std::optional<Value>> find(std::uint64_t key) {
        if (const std::uint32_t slot = at(key); slot != 0)
            return std::optional<Value>(entries_[slot - 1].value);
        for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
            VIRIDIAN_TRY(const std::optional<Value> found, run->find(key, *file_, block_));
            if (found) return found;
        }
        return std::optional<Value>();
    }
    [[nodiscard]] std::size_t runs() const { return runs_.size(); }  // on disk

  private:
    static constexpr std::size_t stride = 128;  // entries per block on disk
    struct KeyedValue {
        std::uint64_t key;
        Value value;
    };
    struct Run {
        std::uint64_t offset = 0;
        std::size_t count = 0;
        std::vector<std::uint64_t> first;  // key of each block

        Result<std::optional<Value>> find(std::uint64_t key, const SpillFile& file,
                                          std::vector<KeyedValue>& block) const {
            const auto after = std::ranges::upper_bound(first, key);
            if (after == first.begin()) return std::optional<Value>();
            const auto index = static_cast<std::size_t>(after - first.begin()) - 1;
            block.resize(std::min(stride, count - index * stride));
            VIRIDIAN_TRY(
                file.read(offset + index * stride * sizeof(KeyedValue),
                          {reinterpret_cast<char*>(block.data()), block.size() * sizeof(KeyedValue)}));
            const auto found = std::ranges::lower_bound(block, key, {}, &KeyedValue::key);
            if (found == block.end() || found->key != key) return std::optional<Value>();
            return std::optional<Value>(found->value);
        }
    };
    // Returns the slot of `key`: the slot that holds it, or the free one that it would take. Consecutive keys
    // get neighbouring slots, because profilers count up.
    std::uint32_t& at(std::uint64_t key) {
        const std::uint64_t block = ((key >> 10U) + 1) * 0x9e3779b97f4a7c15U;
        const std::uint64_t step = block >> 40U | 1U;
        for (std::uint64_t index = key + (block >> 24U << 10U);; index += step) {
            std::uint32_t& slot = slots_[index & (slots_.size() - 1)];
            if (slot == 0 || entries_[slot - 1].key == key) return slot;
        }
    }
    void grow() {
        slots_.assign(slots_.size() * 2, 0);
        for (std::uint32_t i = 0; i < entries_.size(); ++i) at(entries_[i].key) = i + 1;
    }
    Result<void> spill() {
        if (!file_) {
            VIRIDIAN_TRY(SpillFile file, SpillFile::create(options_.folder));
            file_.emplace(std::move(file));
        }
        std::vector<KeyedValue>& entries = entries_;
        std::ranges::sort(entries, {}, &KeyedValue::key);
        Run run{file_->size(), entries.size(), {}};
        for (std::size_t i = 0; i < entries.size(); i += stride) run.first.push_back(entries[i].key);
        VIRIDIAN_TRY(file_->append(
            {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(KeyedValue)}));
        runs_.push_back(std::move(run));
        std::fill(slots_.begin(), slots_.end(), 0U);
        entries_.clear();
        return {};
    }

    SpillOptions options_;
    std::size_t capacity_;
    std::vector<std::uint32_t> slots_;  // 1 + index into entries_, open addressing
    std::vector<KeyedValue> entries_;   // each key once
    std::optional<SpillFile> file_;
    std::vector<Run> runs_;
    std::vector<KeyedValue> block_;
};

}  // namespace viridian::trace
