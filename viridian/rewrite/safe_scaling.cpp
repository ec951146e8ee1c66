#include "viridian/rewrite/safe_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace viridian::rewrite {
namespace {

struct Range {
    double least, most;  // of the magnitudes that are normal numbers of the type
};

Range range_of(ElementType type) {
    if (type == ElementType::f16) return {0x1p-14, 65504};
    if (type == ElementType::f64)
        return {std::numeric_limits<double>::min(), std::numeric_limits<double>::max()};
    return {std::numeric_limits<float>::min(),  // bf16 has the exponents of f32, and a little less at the top
            type == ElementType::bf16 ? 0x1.FEp127 : std::numeric_limits<float>::max()};
}

// The smallest and the largest magnitude, except zero and denormal numbers. `most` is infinite if an element
// is infinite or not a number.
Range magnitudes(const Tensor& tensor) {
    const double least = range_of(tensor.type()).least;
    Range found{std::numeric_limits<double>::infinity(), 0};
    const auto take = [&](double number) {
        const double size = std::abs(number);
        if (!(size < least)) found.least = std::min(found.least, size);
        if (!(size <= found.most))
            found.most = std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
    };
    if (tensor.type() == ElementType::f32)
        for (const float number : tensor.values<float>()) take(static_cast<double>(number));
    else
        for (std::int64_t i = 0; i < tensor.count(); ++i) take(tensor.number(i));
    return found;
}

}  // namespace

Role role_of(const Node& arithmetic) {
    if (arithmetic.op == op::Add || arithmetic.op == op::Sub) return Role::term;
    return arithmetic.op == op::Div ? Role::divisor : Role::factor;
}

bool is_safe_constant(const Editor& editor, ValueId value, Role role) {
    const Tensor* c = editor.constant(value);
    if (c == nullptr || !graph::is_floating(c->type())) return false;
    const bool narrow = graph::size_of(c->type()) == 2;
    const bool term = role == Role::term;
    const double most = term ? (narrow ? 0x1p3 : 0x1p11) : (narrow ? 0x1p7 : 0x1p40);
    const double least = term ? 0 : (narrow ? 0x1p-7 : 0x1p-40);
    for (std::int64_t i = 0; i < c->count(); ++i) {
        const double size = std::abs(c->number(i));
        if (!(size <= most) || (size == 0 ? role == Role::divisor : size < least)) return false;
    }
    return true;
}

bool keeps_range(const Editor& editor, ValueId value, Role role) {
    return !editor.fixed(value) || !graph::is_floating(editor.element(value)) ||
           is_safe_constant(editor, value, role);
}

bool fold_keeps_normals(const Editor& editor, ValueId weights, ValueId factor, Role role) {
    const Tensor* w = editor.constant(weights);
    if (w == nullptr || !graph::is_floating(w->type()) || !is_safe_constant(editor, factor, role))
        return false;
    const bool divides = role == Role::divisor;
    const Range range = range_of(w->type());
    const Range from = magnitudes(*w), by = magnitudes(*editor.constant(factor));
    if (from.most == 0 || by.most == 0) return true;  // zeros stay zeros
    const double most = divides ? from.most / by.least : from.most * by.most;
    const double least = divides ? from.least / by.most : from.least * by.least;
    const bool half = w->type() == ElementType::f16;
    return most <= range.most && (least >= range.least || (half && most >= 0x1p-8));
}

}  // namespace viridian::rewrite
