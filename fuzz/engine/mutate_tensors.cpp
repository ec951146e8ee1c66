#include "fuzz/engine/mutate_tensors.hpp"

#include <cstring>

#include "fuzz/engine/hostile.hpp"
#include "fuzz/engine/pick.hpp"

namespace viridian::fuzz {
namespace {

using ::onnx::GraphProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

constexpr std::int64_t most_elements = 1 << 14;

// Bytes of one element; 0 for types that have none of their own.
std::size_t width_of(int type) {
    switch (type) {
        case TensorProto::FLOAT:
        case TensorProto::INT32:
        case TensorProto::UINT32:
            return 4;
        case TensorProto::INT64:
        case TensorProto::UINT64:
        case TensorProto::DOUBLE:
            return 8;
        case TensorProto::FLOAT16:
        case TensorProto::BFLOAT16:
        case TensorProto::INT16:
        case TensorProto::UINT16:
            return 2;
        case TensorProto::INT8:
        case TensorProto::UINT8:
        case TensorProto::BOOL:
            return 1;
        default:
            return 0;
    }
}

// The number of elements, or -1 if it is none that a mutant should hold.
std::int64_t count_of(const TensorProto& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.dims()) {
        if (size < 0 || size > most_elements) return -1;
        count *= size;
        if (count > most_elements) return -1;
    }
    return count;
}

void set_element(std::string& bytes, int type, std::size_t i, Random& random) {
    const std::size_t width = width_of(type);
    char* at = bytes.data() + i * width;
    const float number = some_number(random);
    const double wide = number;
    const std::int64_t integer = some_integer(random);
    if (type == TensorProto::FLOAT)
        std::memcpy(at, &number, 4);
    else if (type == TensorProto::DOUBLE)
        std::memcpy(at, &wide, 8);
    else if (type == TensorProto::BFLOAT16)
        std::memcpy(at, reinterpret_cast<const char*>(&number) + 2, 2);
    else if (type == TensorProto::BOOL)
        *at = static_cast<char>(integer & 1);
    else
        std::memcpy(at, &integer, width);
}

// Moves typed fields into raw bytes, of which there are as many as the dimensions say afterwards.
void make_raw(TensorProto& tensor, Random& random) {
    const std::int64_t count = count_of(tensor);
    const std::size_t width = width_of(tensor.data_type());
    if (count < 0 || width == 0) return;
    std::string bytes;
    if (tensor.has_raw_data())
        bytes = tensor.raw_data();
    else if (tensor.data_type() == TensorProto::FLOAT)
        bytes.assign(reinterpret_cast<const char*>(tensor.float_data().data()),
                     static_cast<std::size_t>(tensor.float_data_size()) * 4);
    else if (tensor.data_type() == TensorProto::INT64)
        bytes.assign(reinterpret_cast<const char*>(tensor.int64_data().data()),
                     static_cast<std::size_t>(tensor.int64_data_size()) * 8);
    const auto wanted = static_cast<std::size_t>(count) * width;
    std::size_t filled = bytes.size() / width;
    bytes.resize(wanted);
    for (; filled < static_cast<std::size_t>(count); ++filled)
        set_element(bytes, tensor.data_type(), filled, random);
    const std::string name = tensor.name();
    const auto dims = tensor.dims();
    const int type = tensor.data_type();
    tensor.Clear();
    tensor.set_name(name);
    *tensor.mutable_dims() = dims;
    tensor.set_data_type(type);
    tensor.set_raw_data(bytes);
}

template <class Sizes>
void change_sizes(Sizes& dims, Random& random) {
    if (dims.empty() || random.chance(0.15)) {
        dims.Add(random.between(0, 3));
    } else if (random.chance(0.15)) {
        dims.RemoveLast();
    } else {
        std::int64_t& size = *dims.Mutable(static_cast<int>(below(random, dims.size())));
        size = random.chance(0.3) ? some_integer(random) : moved(size, random.between(-1, 1));
    }
}

// Every place that has `from` as a size, changed to `to`.
void replace_size(GraphProto& graph, std::int64_t from, std::int64_t to, Random& random) {
    const auto in_type = [&](ValueInfoProto& value) {
        if (!value.type().tensor_type().has_shape()) return;
        for (auto& size : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
            if (size.has_dim_value() && size.dim_value() == from) size.set_dim_value(to);
    };
    for (ValueInfoProto& value : *graph.mutable_input()) in_type(value);
    for (ValueInfoProto& value : *graph.mutable_output()) in_type(value);
    graph.clear_value_info();
    for (TensorProto& tensor : *graph.mutable_initializer()) {
        bool any = false;
        for (std::int64_t& size : *tensor.mutable_dims()) {
            any = any || size == from;
            if (size == from) size = to;
        }
        if (any) make_raw(tensor, random);
    }
}

}  // namespace

void change_tensor(TensorProto& tensor, Random& random) {
    constexpr int types[] = {1, 1, 2, 3, 6, 7, 9, 10, 11, 13, 16, 4, 5, 12};
    switch (random.below(4)) {
        case 0:
            change_sizes(*tensor.mutable_dims(), random);
            break;
        case 1:
            tensor.set_data_type(random.chance(0.05) ? static_cast<int>(random.below(24))
                                                     : types[random.below(std::size(types))]);
            break;
        default: {
            make_raw(tensor, random);
            const std::size_t width = width_of(tensor.data_type());
            if (!tensor.has_raw_data() || width == 0 || tensor.raw_data().size() < width) return;
            std::string& bytes = *tensor.mutable_raw_data();
            for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits)
                set_element(bytes, tensor.data_type(), random.below(bytes.size() / width), random);
            return;
        }
    }
    if (!random.chance(0.1)) make_raw(tensor, random);
}

void change_initializer(GraphProto& graph, Random& random) {
    if (TensorProto* tensor = pick(graph.mutable_initializer(), random)) change_tensor(*tensor, random);
}

void change_input_type(GraphProto& graph, Random& random) {
    ValueInfoProto* value = pick(random.chance(0.8) ? graph.mutable_input() : graph.mutable_output(), random);
    if (value == nullptr) return;
    auto& type = *value->mutable_type()->mutable_tensor_type();
    if (random.chance(0.3)) {
        type.set_elem_type(random.chance(0.5) ? 1 : static_cast<int>(random.below(24)));
        return;
    }
    if (random.chance(0.05)) return type.clear_shape();
    auto& dims = *type.mutable_shape()->mutable_dim();
    if (dims.empty() || random.chance(0.1)) {
        dims.Add()->set_dim_value(random.between(0, 3));
    } else if (random.chance(0.1)) {
        dims.RemoveLast();
    } else if (auto* size = pick(&dims, random); random.chance(0.15)) {
        size->set_dim_param(random.chance(0.5) ? "N" : "M");
    } else {
        size->set_dim_value(random.chance(0.3) ? some_integer(random)
                                               : moved(size->dim_value(), random.between(-1, 2)));
    }
}

void change_size_everywhere(GraphProto& graph, Random& random) {
    std::vector<std::int64_t> sizes;
    for (const ValueInfoProto& value : graph.input())
        for (const auto& size : value.type().tensor_type().shape().dim())
            if (size.has_dim_value()) sizes.push_back(size.dim_value());
    for (const TensorProto& tensor : graph.initializer())
        sizes.insert(sizes.end(), tensor.dims().begin(), tensor.dims().end());
    if (sizes.empty()) return;
    const std::int64_t from = sizes[random.below(sizes.size())];
    const std::int64_t to = random.chance(0.1)   ? 0
                            : random.chance(0.3) ? moved(from, 1)
                                                 : random.between(1, 40);
    replace_size(graph, from, to, random);
}

void exchange_input_and_initializer(GraphProto& graph, Random& random) {
    if (random.chance(0.5)) {
        if (graph.initializer_size() == 0) return;
        const int at = static_cast<int>(below(random, graph.initializer_size()));
        const TensorProto tensor = graph.initializer(at);
        graph.mutable_initializer()->DeleteSubrange(at, 1);
        for (const ValueInfoProto& input : graph.input())
            if (input.name() == tensor.name()) return;
        ValueInfoProto& input = *graph.add_input();
        input.set_name(tensor.name());
        auto& type = *input.mutable_type()->mutable_tensor_type();
        type.set_elem_type(tensor.data_type());
        type.mutable_shape();
        for (const std::int64_t size : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(size);
        return;
    }
    if (graph.input_size() == 0) return;
    const int at = static_cast<int>(below(random, graph.input_size()));
    TensorProto tensor;
    tensor.set_name(graph.input(at).name());
    tensor.set_data_type(graph.input(at).type().tensor_type().elem_type());
    for (const auto& size : graph.input(at).type().tensor_type().shape().dim())
        tensor.add_dims(size.dim_value());
    make_raw(tensor, random);
    *graph.add_initializer() = tensor;
    if (random.chance(0.9)) graph.mutable_input()->DeleteSubrange(at, 1);
}

}  // namespace viridian::fuzz
