#include "viridian/train/weights/initialise.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"
#include "viridian/base/units_text.hpp"

namespace viridian::train {
namespace {

using DrawingKind = Drawing::Kind;
using graph::ElementType;
using graph::Tensor;

// How the elements of a tensor are distributed around 0, or the value that all have.
struct Distribution {
    enum class Form { value, uniform, normal } form = Form::value;
    double size = 0;  // the value, the bound of ±bound, or the standard deviation
};

constexpr std::array<std::pair<std::string_view, DrawingKind>, 6> drawings = {
    {{"pytorch", DrawingKind::pytorch},
     {"kaiming-uniform", DrawingKind::kaiming_uniform},
     {"kaiming-normal", DrawingKind::kaiming_normal},
     {"xavier-uniform", DrawingKind::xavier_uniform},
     {"xavier-normal", DrawingKind::xavier_normal},
     {"normal", DrawingKind::normal}}};

Distribution uniform_of(double deviation) {
    return {Distribution::Form::uniform, std::sqrt(3.0) * deviation};
}
Distribution normal_of(double deviation) { return {Distribution::Form::normal, deviation}; }
double root(double numerator, double denominator) {
    return denominator > 0 ? std::sqrt(numerator / denominator) : 0;
}

Distribution of_weight(const Drawing& drawing, const Fans& fans) {
    const auto in = static_cast<double>(fans.in), both = static_cast<double>(fans.in + fans.out);
    switch (drawing.kind) {
        case DrawingKind::pytorch:
            return {Distribution::Form::uniform, root(1, in)};
        case DrawingKind::kaiming_uniform:
            return uniform_of(root(2, in));
        case DrawingKind::kaiming_normal:
            return normal_of(root(2, in));
        case DrawingKind::xavier_uniform:
            return uniform_of(root(2, both));
        case DrawingKind::xavier_normal:
            return normal_of(root(2, both));
        case DrawingKind::normal:
            return normal_of(drawing.deviation);
    }
    return {};
}

Result<Distribution> distribution_of(const Drawing& drawing, std::string_view name,
                                     const ParameterShape& shape) {
    switch (shape.part) {
        case Part::scale:
            return Distribution{Distribution::Form::value, 1};
        case Part::shift:
            return Distribution{Distribution::Form::value, 0};
        case Part::embedding:
            return normal_of(drawing.kind == DrawingKind::normal ? drawing.deviation : 1);
        case Part::bias:
            if (drawing.kind != DrawingKind::pytorch) return Distribution{Distribution::Form::value, 0};
            return Distribution{Distribution::Form::uniform, root(1, static_cast<double>(shape.fan_in))};
        default:
            break;
    }
    if (const auto fans = fans_of(shape.part, shape.dims)) return of_weight(drawing, *fans);
    return fail(ErrorCode::mismatch, "draw it as a bias", "the weight `{}` has {} and needs at least two",
                name, counted(shape.dims.size(), "dimension"));
}

void put(Tensor& tensor, const auto& next) {
    switch (tensor.type()) {
        case ElementType::f64:
            for (double& value : tensor.mutable_values<double>()) value = next();
            break;
        case ElementType::f32:
            for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(next());
            break;
        case ElementType::f16:
            for (auto& bits : tensor.mutable_values<std::uint16_t>())
                bits = graph::to_half(static_cast<float>(next()));
            break;
        default:
            for (auto& bits : tensor.mutable_values<std::uint16_t>())
                bits = graph::to_bfloat16(static_cast<float>(next()));
    }
}

}  // namespace

Result<Drawing> parse_drawing(std::string_view text) {
    Drawing drawing;
    constexpr std::string_view option = ":std=";
    const auto at = text.find(option);
    const auto found =
        std::ranges::find(drawings, text.substr(0, at), &std::pair<std::string_view, DrawingKind>::first);
    bool good = found != drawings.end();
    if (good) drawing.kind = found->second;
    if (good && at != std::string_view::npos) {
        const std::string_view number = text.substr(at + option.size());
        const auto [end, fault] =
            std::from_chars(number.data(), number.data() + number.size(), drawing.deviation);
        good = drawing.kind == DrawingKind::normal && fault == std::errc{} &&
               end == number.data() + number.size() && drawing.deviation >= 0 && drawing.deviation <= 1000;
    }
    if (good) return drawing;
    return fail(ErrorCode::invalid_argument,
                "choose one of pytorch, kaiming-uniform, kaiming-normal, xavier-uniform, xavier-normal, "
                "normal:std=0.02",
                "`{}` is not a way to draw weights", text);
}

std::optional<Fans> fans_of(Part part, const graph::Dims& dims) {
    const std::size_t rank = dims.size();
    const bool filter =
        part == Part::linear || part == Part::convolution || part == Part::transposed_convolution;
    if (rank < 2 || (!filter && part != Part::matrix)) return std::nullopt;
    if (part == Part::matrix) return Fans{dims[rank - 2], dims[rank - 1]};  // further dimensions are batches
    const std::int64_t kernel =
        std::accumulate(dims.begin() + 2, dims.end(), std::int64_t{1}, std::multiplies<>());
    return Fans{dims[1] * kernel, dims[0] * kernel};
}

Result<Tensor> draw(const Drawing& drawing, std::uint64_t seed, std::string_view name,
                    const ParameterShape& shape) {
    if (!graph::is_floating(shape.type))
        return fail(ErrorCode::unsupported, "leave it as it is", "`{}` holds {} and cannot be drawn", name,
                    graph::name_of(shape.type));
    VIRIDIAN_TRY(graph::element_count(shape.dims));
    VIRIDIAN_TRY(const Distribution distribution, distribution_of(drawing, name, shape));
    Tensor tensor(shape.type, shape.dims);
    Random random(Hash{}.add(seed).add(name).value());
    put(tensor, [&] {
        switch (distribution.form) {
            case Distribution::Form::uniform:
                return random.uniform(-distribution.size, distribution.size);
            case Distribution::Form::normal:
                return distribution.size * random.normal();
            case Distribution::Form::value:
                break;
        }
        return distribution.size;
    });
    return tensor;
}

}  // namespace viridian::train
