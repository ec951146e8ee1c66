#pragma once
// Names stores each distinct string of a trace once; Paths stores qualified names as a tree of such strings
// ("bert" / "encoder" / "layer_0" / "MatMul"). Ids are dense and stable; 0 is the empty name and the root.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/event.hpp"

namespace viridian::trace {

class Names {
  public:
    Names();
    Names(const Names& other);  // shares the texts so far; each then adds its own
    Names& operator=(const Names& other);
    Names(Names&&) noexcept = default;
    Names& operator=(Names&&) noexcept = default;
    ~Names() = default;

    NameId add(std::string_view text);                             // gives the id of `text`, new or known
    [[nodiscard]] NameId find(std::string_view text) const;        // 0 if it is not known
    [[nodiscard]] std::string_view operator[](NameId name) const;  // unknown ids give the empty name
    [[nodiscard]] std::size_t size() const { return texts_.size(); }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        NameId name = 0;  // 0: free (the empty name is never looked up)
    };
    std::string_view keep(std::string_view text);
    void grow();
    std::vector<Slot> slots_;  // open addressing, a power of two
    std::vector<std::string_view> texts_;
    std::vector<std::shared_ptr<char[]>> blocks_;  // where the texts lie; never moved
    std::size_t free_ = 0;                         // bytes left in the last block
    std::size_t block_size_ = 0;                   // of the last block
};

class Paths {
  public:
    static constexpr std::size_t most = std::size_t{1} << 23;  // a child beyond that is its parent

    Paths();

    PathId add(PathId parent, NameId part);  // the child of `parent` called `part`
    PathId add(PathId parent, std::string_view, Names&,
               char separator);  // "a/b/c": one part each; empty ones skipped
    [[nodiscard]] PathId parent(PathId path) const { return nodes_[path].parent; }
    [[nodiscard]] NameId part(PathId path) const { return nodes_[path].part; }
    [[nodiscard]] std::uint32_t depth(PathId path) const { return nodes_[path].depth; }  // 0 for the root
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    // "bert/encoder/layer_0/MatMul"; empty for the root.
    [[nodiscard]] std::string text(PathId path, const Names& names) const;

  private:
    struct Node {
        PathId parent = 0;
        NameId part = 0;
        std::uint32_t depth = 0;
    };
    std::vector<Node> nodes_;
    std::vector<PathId> slots_;
};

}  // namespace viridian::trace
