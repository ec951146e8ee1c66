// The C interface, on top of the C++ one.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <thread>

#include "viridian/api/convert.hpp"
#include "viridian/api/dlpack.hpp"
#include "viridian/viridian.h"
#include "viridian/viridian.hpp"

namespace vd = viridian::v1;

struct vd_model {
    vd::Model model;
};

// A thread that meters until it is told that the window has ended.
struct vd_window {
    std::mutex mutex;
    std::condition_variable changed;
    bool begun = false, ended = false;
    std::optional<vd::Result<vd::Measurement>> result;
    std::thread thread;
};

namespace {

thread_local vd::Error last_error;

int fail_with(vd::Error error) {
    last_error = std::move(error);
    return 1;
}

vd::Result<vd::OptimizeOptions> options_of(const vd_options* from) {
    vd::OptimizeOptions options;
    if (from == nullptr) return options;
    vd_options whole{};  // the caller's header may be of another version
    const auto* bytes = reinterpret_cast<const char*>(from);
    const std::size_t known = std::min(from->size, sizeof whole);
    if (from->size == 0 || std::any_of(bytes + known, bytes + from->size, [](char c) { return c != 0; }))
        return vd::Error{"invalid_argument", "vd_options has no size, or options that this version lacks",
                         "set `size` to sizeof(vd_options)"};
    std::memcpy(&whole, from, known);
    const vd_options* given = &whole;
    options.threads = given->threads;
    options.bf16 = given->bf16 != 0;
    options.batch = given->batch;
    if (given->objective != nullptr) options.objective = given->objective;
    if (given->budget != nullptr) options.budget = given->budget;
    if (given->cost_database != nullptr) options.cost_database = given->cost_database;
    if (given->memory != nullptr) options.memory = given->memory;
    return options;
}

struct TypeRow {
    vd::Element element;
    std::uint8_t code, bits;
};
constexpr TypeRow types[] = {
    {vd::Element::f64, 2, 64},   {vd::Element::f32, 2, 32}, {vd::Element::f16, 2, 16},
    {vd::Element::bf16, 4, 16},  {vd::Element::i64, 0, 64}, {vd::Element::i32, 0, 32},
    {vd::Element::i16, 0, 16},   {vd::Element::i8, 0, 8},   {vd::Element::u64, 1, 64},
    {vd::Element::u32, 1, 32},   {vd::Element::u16, 1, 16}, {vd::Element::u8, 1, 8},
    {vd::Element::boolean, 6, 8}};

// Keeps what a tensor that was handed out refers to.
struct Owner {
    vd::Tensor tensor;
    std::vector<std::int64_t> shape;
};

DLManagedTensorVersioned* hand_out(const vd::Tensor& tensor, void* data) {
    auto keep = std::make_unique<Owner>(Owner{tensor, tensor.shape()});
    auto* managed = new DLManagedTensorVersioned{};
    Owner* owner = keep.release();
    managed->version = {1, 0};
    managed->manager_ctx = owner;
    managed->deleter = [](DLManagedTensorVersioned* self) {
        delete static_cast<Owner*>(self->manager_ctx);
        delete self;
    };
    DLTensor& to = managed->dl_tensor;
    to.data = data;
    to.device = {1, 0};
    to.ndim = static_cast<std::int32_t>(owner->shape.size());
    to.shape = owner->shape.data();
    for (const TypeRow& row : types)
        if (row.element == tensor.element()) to.dtype = {row.code, row.bits, 1};
    return managed;
}

bool dense(const DLTensor& tensor) {
    if (std::find(tensor.shape, tensor.shape + tensor.ndim, 0) != tensor.shape + tensor.ndim) return true;
    std::int64_t stride = 1;
    for (std::int32_t axis = tensor.ndim; tensor.strides != nullptr && axis-- > 0;) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride) return false;
        stride *= tensor.shape[axis];
    }
    return true;
}

vd::Result<vd::Tensor> view_of(const DLManagedTensorVersioned* managed) {
    if (managed == nullptr || managed->version.major != 1)
        return vd::Error{"invalid_argument", "an input is no DLPack 1 tensor",
                         "pass a DLManagedTensorVersioned"};
    const DLTensor& tensor = managed->dl_tensor;
    if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
        return vd::Error{"invalid_argument", "an input has no shape", "give its rank and extents"};
    if (tensor.device.device_type != 1)
        return vd::Error{"unsupported", "an input does not lie in CPU memory", "copy it to the CPU"};
    if (!dense(tensor)) return vd::Error{"unsupported", "an input is strided", "make it contiguous"};
    for (const TypeRow& row : types)
        if (row.code == tensor.dtype.code && row.bits == tensor.dtype.bits && tensor.dtype.lanes == 1)
            return vd::Tensor::view(row.element,
                                    static_cast<const std::byte*>(tensor.data) + tensor.byte_offset,
                                    {tensor.shape, tensor.shape + tensor.ndim});
    return vd::Error{"unsupported", "an input has an element type that models do not use",
                     "convert it to the input's type"};
}

// Runs `work` so that no exception crosses into C, if all arguments are `present`, which means not null.
template <class Work>
int guarded(bool present, const Work& work) {
    if (!present)
        return fail_with({"invalid_argument", "an argument is null", "see viridian.h which may be"});
    try {
        return work();
    } catch (...) {
        return fail_with(viridian::api::to_public(viridian::api::caught()));
    }
}

vd_port port_at(const std::vector<vd::Port>& ports, size_t index) {
    if (index >= ports.size()) return {};
    const vd::Port& port = ports[index];
    const auto row = std::ranges::find(types, port.element, &TypeRow::element);
    return {port.name.c_str(), row->code, row->bits, static_cast<std::int32_t>(port.shape.size()),
            port.shape.data()};
}

}  // namespace

const char* vd_version(void) {
    static const std::string text = vd::version();
    return text.c_str();
}

int vd_model_open(const char* file, const vd_options* options, vd_model** model) {
    return guarded(file != nullptr && model != nullptr, [&] {
        const auto parsed = options_of(options);
        if (!parsed.ok()) return fail_with(parsed.error());
        auto opened = vd::Model::open(file, *parsed);
        if (!opened.ok()) return fail_with(opened.error());
        *model = new vd_model{*std::move(opened)};
        return 0;
    });
}

void vd_model_close(vd_model* model) { delete model; }
size_t vd_model_input_count(const vd_model* model) {
    return model == nullptr ? 0 : model->model.inputs().size();
}
size_t vd_model_output_count(const vd_model* model) {
    return model == nullptr ? 0 : model->model.outputs().size();
}

vd_port vd_model_input(const vd_model* model, size_t index) {
    return model == nullptr ? vd_port{} : port_at(model->model.inputs(), index);
}
vd_port vd_model_output(const vd_model* model, size_t index) {
    return model == nullptr ? vd_port{} : port_at(model->model.outputs(), index);
}

int vd_model_run(const vd_model* model, DLManagedTensorVersioned* const* inputs,
                 DLManagedTensorVersioned** outputs) {
    return guarded(model != nullptr && inputs != nullptr && outputs != nullptr, [&] {
        std::vector<vd::Tensor> given;
        for (std::size_t i = 0; i < model->model.inputs().size(); ++i) {
            auto view = view_of(inputs[i]);
            if (!view.ok()) return fail_with(view.error());
            given.push_back(*std::move(view));
        }
        const auto made = model->model.run(given);
        if (!made.ok()) return fail_with(made.error());
        for (std::size_t i = 0; i < made->size(); ++i)
            outputs[i] = hand_out((*made)[i], const_cast<void*>((*made)[i].data()));
        return 0;
    });
}

DLManagedTensorVersioned* vd_tensor_borrow(float* data, int32_t rank, const int64_t* shape) {
    DLManagedTensorVersioned* made = nullptr;
    guarded(data != nullptr, [&] {
        if (rank < 0 || (rank > 0 && shape == nullptr))
            return fail_with({"invalid_argument", "the tensor has no shape", "give its rank and extents"});
        made = hand_out(vd::Tensor::view(data, {shape, shape + rank}), data);
        return 0;
    });
    return made;
}

void* vd_tensor_data(const DLManagedTensorVersioned* tensor) {
    if (tensor == nullptr) return nullptr;
    return static_cast<std::byte*>(tensor->dl_tensor.data) + tensor->dl_tensor.byte_offset;
}

void vd_tensor_release(DLManagedTensorVersioned* tensor) {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

int vd_optimize(const char* file, const char* output, const vd_options* options) {
    return guarded(file != nullptr && output != nullptr, [&] {
        const auto parsed = options_of(options);
        if (!parsed.ok()) return fail_with(parsed.error());
        const auto result = vd::optimize(file, *parsed);
        if (!result.ok()) return fail_with(result.error());
        const auto saved = result->save(output);
        return saved.ok() ? 0 : fail_with(saved.error());
    });
}

int vd_measure_begin(const char* meter, vd_window** window) {
    return guarded(window != nullptr, [&] {
        auto opened = std::make_unique<vd_window>();
        opened->thread = std::thread([w = opened.get(), name = std::string(meter == nullptr ? "" : meter)] {
            auto result = vd::measure(
                [w] {
                    std::unique_lock lock(w->mutex);
                    w->begun = true;
                    w->changed.notify_all();
                    w->changed.wait(lock, [w] { return w->ended; });
                },
                name);
            const std::lock_guard lock(w->mutex);
            w->result = std::move(result);
            w->begun = true;
            w->changed.notify_all();
        });
        std::unique_lock lock(opened->mutex);
        opened->changed.wait(lock, [&] { return opened->begun; });
        if (opened->result && !opened->result->ok()) {
            const vd::Error error = opened->result->error();
            lock.unlock();
            opened->thread.join();
            return fail_with(error);
        }
        lock.unlock();
        *window = opened.release();
        return 0;
    });
}

int vd_measure_end(vd_window* window, vd_energy* energy) {
    return guarded(window != nullptr, [&] {
        const std::unique_ptr<vd_window> owner(window);
        {
            const std::lock_guard lock(window->mutex);
            window->ended = true;
        }
        window->changed.notify_all();
        window->thread.join();
        if (!window->result->ok()) return fail_with(window->result->error());
        if (energy == nullptr) return fail_with({"invalid_argument", "`energy` is null", "give its address"});
        const vd::Measurement& measured = **window->result;
        *energy = {measured.energy.joules, measured.energy.low, measured.energy.high, measured.seconds, {}};
        std::strncpy(energy->provenance, measured.energy.provenance.c_str(), sizeof energy->provenance - 1);
        return 0;
    });
}

const char* vd_error_message(void) { return last_error.message.c_str(); }
const char* vd_error_next_step(void) { return last_error.next_step.c_str(); }
