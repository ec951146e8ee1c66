#include "viridian/api/convert.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "viridian/graph/graph.hpp"

namespace viridian::api {
namespace {

// In the order of v1::Element.
constexpr std::array elements = {graph::ElementType::f64,    graph::ElementType::f32, graph::ElementType::f16,
                                 graph::ElementType::bf16,   graph::ElementType::i64, graph::ElementType::i32,
                                 graph::ElementType::i16,    graph::ElementType::i8,  graph::ElementType::u64,
                                 graph::ElementType::u32,    graph::ElementType::u16, graph::ElementType::u8,
                                 graph::ElementType::boolean};

}  // namespace

v1::Error to_public(const Error& error) {
    return {std::string(name_of(error.code)), error.message, error.next_step};
}

v1::Energy to_public(const Energy& energy) {
    return {energy.value.value, energy.low.value, energy.high.value, energy.provenance.text()};
}

v1::Element to_public(graph::ElementType type) {
    const auto found = std::ranges::find(elements, type);
    invariant(found != elements.end(), "a value of a graph has an element type");
    return static_cast<v1::Element>(found - elements.begin());
}

graph::ElementType from_public(v1::Element element) { return elements.at(static_cast<std::size_t>(element)); }

Error caught() {
    std::string what;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "use a smaller model or batch", "there is not enough memory");
    } catch (const BrokenInvariant& broken) {
        what = "broken invariant: " + broken.name;
    } catch (const std::exception& exception) {
        what = exception.what();
    } catch (...) {
        what = "not a std::exception";
    }
    return fail(ErrorCode::broken_invariant, "please report it, unless your own code threw it",
                "unexpected exception: {}", what);
}

v1::Port port_of(const graph::Value& value) {
    return {value.name, to_public(value.type.element), value.type.dims()};
}

}  // namespace viridian::api
