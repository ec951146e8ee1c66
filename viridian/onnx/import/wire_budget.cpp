#include "viridian/onnx/import/wire_budget.hpp"

#include <optional>

namespace viridian::onnx {
namespace {

// Messages that hold messages, by field number (onnx.proto). Everything else is a leaf: bytes of its own
// length.
enum class Kind {
    leaf,
    model,
    graph,
    node,
    attribute,
    tensor,
    sparse,
    value_info,
    type,
    tensor_type,
    container,
    shape,
    function,
    training
};

Kind child(Kind kind, std::uint64_t field) {
    switch (kind) {
        case Kind::model:
            return field == 7    ? Kind::graph
                   : field == 25 ? Kind::function
                   : field == 20 ? Kind::training
                                 : Kind::leaf;
        case Kind::training:
            return field <= 2 ? Kind::graph : Kind::leaf;
        case Kind::function:
            return field == 7 ? Kind::node : Kind::leaf;
        case Kind::graph:
            return field == 1                   ? Kind::node
                   : field == 5                 ? Kind::tensor
                   : field == 15                ? Kind::sparse
                   : field >= 11 && field <= 13 ? Kind::value_info
                                                : Kind::leaf;
        case Kind::node:
            return field == 5 ? Kind::attribute : Kind::leaf;
        case Kind::attribute:
            return field == 5 || field == 10    ? Kind::tensor
                   : field == 6 || field == 11  ? Kind::graph
                   : field == 14 || field == 15 ? Kind::type
                   : field == 22 || field == 23 ? Kind::sparse
                                                : Kind::leaf;
        case Kind::sparse:
            return field <= 2 ? Kind::tensor : Kind::leaf;
        case Kind::value_info:
            return field == 2 ? Kind::type : Kind::leaf;
        case Kind::type:
            return field == 1 || field == 8                 ? Kind::tensor_type
                   : field == 4 || field == 5 || field == 9 ? Kind::container
                                                            : Kind::leaf;
        case Kind::container:
            return field <= 2 ? Kind::type : Kind::leaf;
        case Kind::tensor_type:
            return field == 2 ? Kind::shape : Kind::leaf;
        default:
            return Kind::leaf;
    }
}

constexpr std::int64_t message_bytes = 320;  // the largest message class, and its pointer
constexpr std::int64_t leaf_bytes = 64;      // a string or a small message, and its pointer
constexpr std::int64_t number_bytes = 8;

class Walk {
  public:
    explicit Walk(std::int64_t budget) : left_(budget) {}

    // False: the wire format is broken.
    bool message(std::string_view bytes, Kind kind, int depth) {
        if (depth > 100) return false;
        while (!bytes.empty() && left_ >= 0) {
            const auto tag = varint(bytes);
            if (!tag) return false;
            const std::uint64_t field = *tag >> 3U;
            switch (*tag & 7U) {
                case 0:
                    if (!varint(bytes)) return false;
                    left_ -= number_bytes;
                    break;
                case 1:
                case 5: {
                    const std::size_t size = (*tag & 7U) == 1 ? 8 : 4;
                    if (bytes.size() < size) return false;
                    bytes.remove_prefix(size);
                    left_ -= number_bytes;
                    break;
                }
                case 2: {
                    const auto length = varint(bytes);
                    if (!length || *length > bytes.size()) return false;
                    const Kind inner = child(kind, field);
                    left_ -= inner == Kind::leaf ? leaf_bytes : message_bytes;
                    if (inner != Kind::leaf && !message(bytes.substr(0, *length), inner, depth + 1))
                        return false;
                    bytes.remove_prefix(*length);
                    break;
                }
                default:
                    return false;  // groups, which ONNX never used
            }
        }
        return true;
    }
    [[nodiscard]] bool within() const { return left_ >= 0; }

  private:
    static std::optional<std::uint64_t> varint(std::string_view& bytes) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80) return value;
        }
        return std::nullopt;
    }

    std::int64_t left_;
};

}  // namespace

Result<void> check_wire_budget(std::string_view bytes, std::string_view name, std::int64_t most_bytes) {
    Walk walk(most_bytes);
    const bool sound = walk.message(bytes, Kind::model, 0);
    if (!walk.within())
        return fail(ErrorCode::limit_exceeded, "simplify the model",
                    "`{}` describes more than {} MiB of nodes, names and shapes", name, most_bytes >> 20);
    if (!sound)
        return fail(ErrorCode::malformed, "check that it is a whole .onnx file",
                    "`{}` is not a readable ONNX model: it is cut off, damaged or nested too deeply", name);
    return {};
}

}  // namespace viridian::onnx
