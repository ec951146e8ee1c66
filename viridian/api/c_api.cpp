// The C interface, on top of the C++ one.
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

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

vd::OptimizeOptions options_of(const vd_options* given) {
    vd::OptimizeOptions options;
    if (given == nullptr) return options;
    options.threads = given->threads;
    options.bf16 = given->bf16 != 0;
    options.batch = given->batch;
    if (given->objective != nullptr) options.objective = given->objective;
    if (given->budget != nullptr) options.budget = given->budget;
    if (given->cost_database != nullptr) options.cost_database = given->cost_database;
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

DLManagedTensorVersioned* hand_out(vd::Tensor tensor, void* data) {
    auto* owner = new Owner{tensor, tensor.shape()};
    auto* managed = new DLManagedTensorVersioned{};
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

// Runs `work` so that no exception crosses into C.
template <class Work>
int guarded(const Work& work) {
    try {
        return work();
    } catch (const std::exception& exception) {
        return fail_with({"broken_invariant", exception.what(), "please report it with the input"});
    }
}

}  // namespace

const char* vd_version(void) {
    static const std::string text = vd::version();
    return text.c_str();
}

int vd_model_open(const char* file, const vd_options* options, vd_model** model) {
    return guarded([&] {
        auto opened = vd::Model::open(file, options_of(options));
        if (!opened.ok()) return fail_with(opened.error());
        *model = new vd_model{*std::move(opened)};
        return 0;
    });
}

void vd_model_close(vd_model* model) { delete model; }
size_t vd_model_input_count(const vd_model* model) { return model->model.inputs().size(); }
size_t vd_model_output_count(const vd_model* model) { return model->model.outputs().size(); }

const char* vd_model_input_name(const vd_model* model, size_t index) {
    const auto& ports = model->model.inputs();
    return index < ports.size() ? ports[index].name.c_str() : nullptr;
}

const char* vd_model_output_name(const vd_model* model, size_t index) {
    const auto& ports = model->model.outputs();
    return index < ports.size() ? ports[index].name.c_str() : nullptr;
}

int vd_model_run(const vd_model* model, DLManagedTensorVersioned* const* inputs,
                 DLManagedTensorVersioned** outputs) {
    return guarded([&] {
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
    return hand_out(vd::Tensor::view(data, {shape, shape + rank}), data);
}

void* vd_tensor_data(const DLManagedTensorVersioned* tensor) {
    return static_cast<std::byte*>(tensor->dl_tensor.data) + tensor->dl_tensor.byte_offset;
}

void vd_tensor_release(DLManagedTensorVersioned* tensor) {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

int vd_optimize(const char* file, const char* output, const vd_options* options) {
    return guarded([&] {
        const auto result = vd::optimize(file, options_of(options));
        if (!result.ok()) return fail_with(result.error());
        const auto saved = result->save(output);
        return saved.ok() ? 0 : fail_with(saved.error());
    });
}

int vd_measure_begin(const char* meter, vd_window** window) {
    return guarded([&] {
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
    return guarded([&] {
        const std::unique_ptr<vd_window> owner(window);
        {
            const std::lock_guard lock(window->mutex);
            window->ended = true;
        }
        window->changed.notify_all();
        window->thread.join();
        if (!window->result->ok()) return fail_with(window->result->error());
        const vd::Measurement& measured = **window->result;
        *energy = {measured.energy.joules, measured.energy.low, measured.energy.high, measured.seconds, {}};
        std::strncpy(energy->provenance, measured.energy.provenance.c_str(), sizeof energy->provenance - 1);
        return 0;
    });
}

const char* vd_error_message(void) { return last_error.message.c_str(); }
const char* vd_error_next_step(void) { return last_error.next_step.c_str(); }
