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
    Names(const Names& other);  // shares the texts so far with `other`; each then adds its own
    Names& operator=(const Names& other);
    Names(Names&&) noexcept = default;
    Names& operator=(Names&&) noexcept = default;
    ~Names() = default;

    NameId add(std::string_view text);                             // returns the id of `text`, new or known
    [[nodiscard]] NameId find(std::string_view text) const;        // returns 0 if `text` is not known
    [[nodiscard]] std::string_view operator[](NameId name) const;  // unknown ids give the empty name
    [[nodiscard]] std::size_t size() const { return texts_.size(); }  // the empty name included

  private:
    struct Slot {
        std::uint64_t hash = 0;
        NameId name = 0;  // 0: free (the empty name is never looked up)
    };
    std::string_view keep(std::string_view text);
    void grow();
    std::vector<Slot> slots_;  // open addressing, a power of two
    std::vector<std::string_view> texts_;
    std::vector<std::shared_ptr<char[]>> blocks_;  // hold the texts, which never move
    std::size_t free_ = 0;                         // bytes left in the last block
    std::size_t block_size_ = 0;                   // of the last block
};

class Paths {
  public:
    // The most paths. When there are so many, `add` returns the parent instead of a new child.
    static constexpr std::size_t most = std::size_t{1} << 23;

    Paths();

    // Returns the child of `parent` called `part`, new or known.
    PathId add(PathId parent, NameId part);
    // Adds each part of a text such as "a/b/c" in turn and returns the last. Empty parts are skipped.
    PathId add(PathId parent, std::string_view, Names&, char separator);
    [[nodiscard]] PathId parent(PathId path) const { return nodes_[path].parent; }
    [[nodiscard]] NameId part(PathId path) const { return nodes_[path].part; }
    [[nodiscard]] std::uint32_t depth(PathId path) const { return nodes_[path].depth; }  // 0 for the root
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    // Returns the parts joined: "bert/encoder/layer_0/MatMul"; "" for the root.
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
