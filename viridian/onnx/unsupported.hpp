#pragma once
// Everything a model uses that we lack, gathered while it is read and told in one error.
#include <map>
#include <string>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::onnx {

class Unsupported {
  public:
    void add_operator(const std::string& domain, const std::string& op, std::string node);
    void add(std::string what);  // "input `x` is a sequence"
    [[nodiscard]] bool none() const { return operators_.empty() && others_.empty(); }

    // Errors: unsupported, naming every operator with its nodes (the first few of many) and everything else.
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
