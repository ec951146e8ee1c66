#pragma once
// Unsupported collects everything that a model uses and Viridian does not implement, so that one error can
// list it all.
#include <map>
#include <string>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/graph/operator.hpp"

namespace viridian::onnx {

class Unsupported {
  public:
    // Adds the operator `op`, which is not implemented; `node` is the name of a node that uses it.
    void add_operator(const graph::Operator& op, std::string node);
    void add(std::string what);  // "input `x` is a sequence"
    [[nodiscard]] bool none() const { return operators_.empty() && others_.empty(); }

    // Returns the error `unsupported` if anything was added. It names every operator with its first nodes,
    // then the first 64 other things, and says how many more there are.
    [[nodiscard]] Result<void> result(std::string_view model) const;

  private:
    struct Nodes {
        std::vector<std::string> first;  // the first few
        std::size_t count = 0;
    };
    std::map<std::string, Nodes> operators_;
    std::vector<std::string> others_;  // the first few
    std::size_t others_count_ = 0;
};

}  // namespace viridian::onnx
