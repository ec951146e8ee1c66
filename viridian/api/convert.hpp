#pragma once
// Carries values between the public interface and the rooms behind it.
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

// Runs `work`, which returns a viridian::Result, and turns broken invariants and exhausted memory into
// errors, so that no exception of ours leaves the library.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const BrokenInvariant& broken) {
        return fail(ErrorCode::broken_invariant, "please report it with the input",
                    "bug in viridian: the invariant `{}` does not hold", broken.name);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "use a smaller model or batch", "there is not enough memory");
    }
}

}  // namespace viridian::api

#define VIRIDIAN_API_TRY_NAMED(name, declaration, ...)                 \
    auto name = ::viridian::api::guarded([&] { return __VA_ARGS__; }); \
    if (!name.ok()) return ::viridian::api::to_public(name.error());   \
    declaration = std::move(name).value()
// Declares the value of an internal result, or returns its error as a public one.
#define VIRIDIAN_API_TRY(declaration, ...) \
    VIRIDIAN_API_TRY_NAMED(VIRIDIAN_JOIN(viridian_api_result_, __LINE__), declaration, __VA_ARGS__)
