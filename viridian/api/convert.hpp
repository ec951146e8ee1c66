#pragma once
// Carries values between the public interface and the rooms behind it.
#include <type_traits>

#include "viridian/base/energy.hpp"
#include "viridian/base/result.hpp"
#include "viridian/graph/graph.hpp"
#include "viridian/viridian.hpp"

namespace viridian::api {

[[nodiscard]] v1::Error to_public(const Error& error);
[[nodiscard]] v1::Energy to_public(const Energy& energy);
[[nodiscard]] v1::Element to_public(graph::ElementType type);
[[nodiscard]] graph::ElementType from_public(v1::Element element);
[[nodiscard]] v1::Port port_of(const graph::Value& value);

// Returns an Error that describes the exception being handled. Call it only inside a catch block.
[[nodiscard]] Error caught();

// Runs `work`, which returns a viridian::Result, and gives its value or error as a public one. No exception
// leaves it.
template <class Work>
auto answer(const Work& work) -> v1::Result<std::decay_t<decltype(work().value())>> {
    try {
        auto result = work();
        if (!result.ok()) return to_public(result.error());
        return std::move(result).value();
    } catch (...) {
        return to_public(caught());
    }
}

}  // namespace viridian::api
