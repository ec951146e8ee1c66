#include "viridian/rewrite/moderate.hpp"

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

// The smallest and the largest magnitude, zero and denormal numbers aside; most is infinite where one is or
// is no number.
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

bool moderate(const Editor& editor, ValueId value, std::string_view family, bool nonzero) {
    const Tensor* c = editor.constant(value);
    if (c == nullptr || !graph::is_floating(c->type())) return false;
    const bool narrow = graph::size_of(c->type()) == 2;
    const double most = family == "Mul" ? (narrow ? 0x1p7 : 0x1p40) : (narrow ? 0x1p3 : 0x1p11);
    const double least = family == "Mul" ? (narrow ? 0x1p-7 : 0x1p-40) : 0;
    for (std::int64_t i = 0; i < c->count(); ++i) {
        const double size = std::abs(c->number(i));
        if (!(size <= most) || (size == 0 ? nonzero : size < least)) return false;
    }
    return true;
}

bool moderate_where_known(const Editor& editor, ValueId value, std::string_view family) {
    return !editor.fixed(value) || !graph::is_floating(editor.element(value)) ||
           moderate(editor, value, family, false);
}

bool folds_normally(const Editor& editor, ValueId weights, ValueId factor, bool divides) {
    const Tensor* w = editor.constant(weights);
    if (w == nullptr || !graph::is_floating(w->type()) || !moderate(editor, factor, "Mul", divides))
        return false;
    const Range range = range_of(w->type());
    const Range from = magnitudes(*w), by = magnitudes(*editor.constant(factor));
    if (from.most == 0 || by.most == 0) return true;  // zeros, whatever they meet
    const double most = divides ? from.most / by.least : from.most * by.most;
    const double least = divides ? from.least / by.most : from.least * by.least;
    const bool half = w->type() == ElementType::f16;
    return most <= range.most && (least >= range.least || (half && most >= 0x1p-8));
}

}  // namespace viridian::rewrite
