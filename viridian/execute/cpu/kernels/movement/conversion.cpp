#include "viridian/execute/cpu/kernels/movement/conversion.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/execute/cpu/kernels/dnnl.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::ElementType;

Kernel copy(const Context& context, std::int64_t bytes) {
    Kernel kernel;
    kernel.run = [bytes, threads = context.threads](const Pointers& pointers) {
        const std::byte* from = pointers.inputs[0];
        std::byte* to = pointers.outputs[0];
        if (bytes < 16384) {
            if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
            return;
        }
        parallel(threads, [=](int thread) {
            const auto [first, last] = share(bytes / 64, thread, threads);
            const std::int64_t end = thread + 1 == threads ? bytes : last * 64;
            std::memcpy(to + first * 64, from + first * 64, static_cast<std::size_t>(end - first * 64));
        });
    };
    return kernel;
}

// Any layout to any other, element by element: for types that oneDNN does not know. Bytes move unchanged.
Kernel move_elements(const Dims& dims, const plan::Format& from, const plan::Format& to) {
    std::vector<std::int64_t> table;  // byte offsets: source, target, ...
    const std::int64_t size = graph::size_of(from.element);
    Dims position(dims.size(), 0);
    std::int64_t count = 1;
    for (const std::int64_t dimension : dims) count *= dimension;
    for (std::int64_t i = 0; i < count; ++i) {
        table.push_back(plan::element_offset(from.layout, dims, position) * size);
        table.push_back(plan::element_offset(to.layout, dims, position) * size);
        for (std::size_t d = dims.size(); d-- > 0;) {
            if (++position[d] < dims[d]) break;
            position[d] = 0;
        }
    }
    Kernel kernel;
    kernel.run = [table = std::move(table), size](const Pointers& pointers) {
        for (std::size_t i = 0; i < table.size(); i += 2)
            std::memcpy(pointers.outputs[0] + table[i + 1], pointers.inputs[0] + table[i],
                        static_cast<std::size_t>(size));
    };
    return kernel;
}

// A type of equal size that oneDNN does know, where only bytes move.
ElementType mover(ElementType type) {
    return graph::size_of(type) == 4 ? ElementType::f32 : graph::size_of(type) == 1 ? ElementType::u8 : type;
}

// Runs f(first, last) on shares of `count` elements, multiples of 64. Small counts stay on one thread.
template <class Function>
void in_line_shares(int threads, std::int64_t count, const Function& f) {
    constexpr std::int64_t line = 64, few = 4096;
    if (count < few) return f(std::int64_t{0}, count);
    in_shares(threads, (count + line - 1) / line,
              [&](auto first, auto last) { f(first * line, std::min(last * line, count)); });
}

// Returns a conversion that widens bf16 to f32, changes the layout and rounds, without the steps that are not
// needed. It serves where oneDNN has only reference code, which is on processors without AVX-512.
Kernel through_f32(const Context& context, const Dims& dims, const plan::Format& source,
                   const plan::Format& target) {
    const bool widens = source.element == ElementType::bf16, narrows = target.element == ElementType::bf16;
    const bool moves = source.layout != target.layout;
    const auto elements = [&](const plan::Format& format) {
        return plan::buffer_bytes(format, dims) / graph::size_of(format.element);
    };
    const std::int64_t from_count = elements(source), to_count = elements(target);
    // The workspace holds the f32 copies before and after the change of layout.
    const std::int64_t widened = widens && moves ? aligned_bytes(4 * from_count) : 0;
    const std::int64_t unrounded = narrows && moves ? aligned_bytes(4 * to_count) : 0;
    Kernel kernel;
    if (moves) {
        const Argument from{widens ? Argument::From::workspace : Argument::From::input, 0, DNNL_ARG_FROM,
                            descriptor(source.layout, dims, ElementType::f32)};
        const Argument to{narrows ? Argument::From::workspace : Argument::From::output,
                          narrows ? static_cast<std::size_t>(widened) : 0, DNNL_ARG_TO,
                          descriptor(target.layout, dims, ElementType::f32)};
        kernel = staged_kernel(context, {reorder_stage(context, from, to)}, {}, widened + unrounded);
    }
    kernel.run = [=, threads = context.threads, move = std::move(kernel.run)](const Pointers& pointers) {
        const auto* input = reinterpret_cast<const std::uint16_t*>(pointers.inputs[0]);
        auto* output = reinterpret_cast<std::uint16_t*>(pointers.outputs[0]);
        if (widens) {
            auto* to = reinterpret_cast<float*>(moves ? pointers.workspace : pointers.outputs[0]);
            in_line_shares(threads, from_count, [=](auto first, auto last) {
                simd::widen(input + first, to + first, last - first);
            });
        }
        if (moves) move(pointers);
        if (narrows) {
            const auto* from =
                reinterpret_cast<const float*>(moves ? pointers.workspace + widened : pointers.inputs[0]);
            in_line_shares(threads, to_count, [=](auto first, auto last) {
                simd::narrow(from + first, output + first, last - first);
            });
        }
    };
    return kernel;
}

bool generated(const dnnl::reorder::primitive_desc& reorder) {
    return std::string_view(reorder.impl_info_str()).starts_with("jit");
}

}  // namespace

Result<Kernel> prepare_conversion(const Context& context, const Dims& dims, const plan::Format& from,
                                  const plan::Format& to) {
    const auto refuse = [&] {
        return fail(ErrorCode::unsupported, "choose formats of one device and of types f32 or bf16",
                    "the CPU does not convert {} to {}", plan::text(from), plan::text(to));
    };
    if (from.memory != plan::Memory{} || to.memory != plan::Memory{}) return refuse();
    // A view's offset is in the buffer's place already.
    plan::Format source = from, target = to;
    source.layout.offset = target.layout.offset = 0;
    if (source.element == target.element && source.layout == target.layout && source.layout.strides.empty())
        return copy(context, plan::buffer_bytes(source, dims));
    if (source.element == target.element) source.element = target.element = mover(source.element);
    const bool known = dnnl_type(source.element) != dnnl::memory::data_type::undef &&
                       dnnl_type(target.element) != dnnl::memory::data_type::undef;
    if (!known && source.element == target.element) return move_elements(dims, source, target);
    if (!known) return refuse();
    try {
        const auto a = descriptor(source.layout, dims, source.element);
        const auto b = descriptor(target.layout, dims, target.element);
        const dnnl::reorder::primitive_desc reorder(context.engine, a, context.engine, b, user_scratchpad());
        const bool rounded = source.element == ElementType::bf16 || target.element == ElementType::bf16;
        if (rounded && !generated(reorder) && target.layout.strides.empty())
            return through_f32(context, dims, source, target);
        return primitive_kernel(
            context, dnnl::reorder(reorder),
            {{Argument::From::input, 0, DNNL_ARG_FROM, a}, {Argument::From::output, 0, DNNL_ARG_TO, b}}, {},
            reorder.scratchpad_desc());
    } catch (const dnnl::error&) {
        return refuse();
    }
}

}  // namespace viridian::execute::cpu
