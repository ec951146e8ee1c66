// Opening and running models through the public interface.
#include "viridian/api/state.hpp"
#include "viridian/base/units_text.hpp"

namespace viridian::v1 {
namespace {

std::vector<Port> ports_of(const graph::Graph& graph, const std::vector<graph::ValueId>& values) {
    std::vector<Port> ports;
    for (const graph::ValueId id : values) ports.push_back(api::port_of(graph.value(id)));
    return ports;
}

// The tensor's bytes, kept alive by it. Errors: invalid_argument for a shape that no tensor has, or no data.
viridian::Result<graph::Tensor> borrowed(const Tensor& tensor) {
    constexpr double most = 1e12;  // elements
    double count = 1;
    bool possible = true;
    for (const std::int64_t extent : tensor.shape()) {
        possible = possible && extent >= 0 && static_cast<double>(extent) <= most;
        count *= static_cast<double>(extent);
    }
    if (!possible || count > most || (count > 0 && tensor.data() == nullptr))
        return fail(ErrorCode::invalid_argument, "give its data, and extents from 0 on",
                    "an input tensor has no data or an impossible shape");
    return graph::Tensor(api::from_public(tensor.element()), tensor.shape(),
                         {std::make_shared<Tensor>(tensor), static_cast<const std::byte*>(tensor.data())});
}

// One tensor per input of a model, each kept alive by its copy. Errors: mismatch if they are not what the
// model takes, invalid_argument as above.
viridian::Result<std::vector<graph::Tensor>> borrowed(std::span<const Tensor> given,
                                                      const std::vector<Port>& inputs) {
    if (given.size() != inputs.size())
        return fail(ErrorCode::mismatch, "give one tensor per input, in the order of inputs()",
                    "the model takes {}, and the call gives {}", counted(inputs.size(), "input"),
                    counted(given.size(), "tensor"));
    std::vector<graph::Tensor> tensors;
    for (std::size_t i = 0; i < given.size(); ++i) {
        VIRIDIAN_TRY(graph::Tensor tensor, borrowed(given[i]));
        const graph::ElementType element = api::from_public(inputs[i].element);
        if (tensor.type() != element || tensor.dims() != inputs[i].shape)
            return fail(ErrorCode::mismatch, "give a tensor of that type, or open the model for other sizes",
                        "the input `{}` is {}, and the model takes {}", inputs[i].name,
                        graph::text(tensor.tensor_type()),
                        graph::text(graph::TensorType{element, graph::shape_of(inputs[i].shape)}));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

}  // namespace

std::size_t size_of(Element element) {
    return static_cast<std::size_t>(graph::size_of(api::from_public(element)));
}

Tensor::Tensor(Element element, std::vector<std::int64_t> shape)
    : element_(element), shape_(std::move(shape)), owned_(true) {
    std::size_t bytes = size_of(element);
    for (const std::int64_t extent : shape_)
        if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
            throw std::bad_alloc();
    data_ = std::shared_ptr<std::byte[]>(new std::byte[bytes]());
}

Tensor Tensor::view(Element element, const void* data, std::vector<std::int64_t> shape) {
    Tensor tensor;
    tensor.element_ = element;
    tensor.shape_ = std::move(shape);
    tensor.data_ = std::shared_ptr<const void>(std::shared_ptr<void>(), data);
    return tensor;
}

Tensor Tensor::view(const float* data, std::vector<std::int64_t> shape) {
    return view(Element::f32, data, std::move(shape));
}

std::int64_t Tensor::count() const {
    std::int64_t count = data_ == nullptr ? 0 : 1;
    for (const std::int64_t extent : shape_) count *= extent;
    return count;
}

void* Tensor::mutable_data() { return owned_ ? const_cast<void*>(data_.get()) : nullptr; }

std::shared_ptr<Model::State> Model::State::of(std::shared_ptr<const void> owner,
                                               const execute::Device& device,
                                               const optimize::PlannedModel& planned) {
    auto state = std::make_shared<State>();
    state->owner = std::move(owner);
    state->threads = device.threads();
    state->executable = planned.executable.get();
    state->inputs = ports_of(planned.graph, planned.graph.inputs());
    state->outputs = ports_of(planned.graph, planned.graph.outputs());
    return state;
}

Result<Model> Model::open(const std::string& file, const OpenOptions& options) {
    return api::answer([&]() -> viridian::Result<Model> {
        const session::ModelOptions model = api::model_options(file, options);
        VIRIDIAN_TRY(session::LoadedModel loaded, session::load(model));
        VIRIDIAN_TRY(session::Session prepared, session::prepare(std::move(loaded), model));
        const auto session = std::make_shared<session::Session>(std::move(prepared));
        return Model(State::of(session, *session->device, session->planned));
    });
}

const std::vector<Port>& Model::inputs() const { return state_->inputs; }
const std::vector<Port>& Model::outputs() const { return state_->outputs; }
int Model::threads() const { return state_->threads; }

struct Binding::State {
    Model model;
    std::vector<graph::Tensor> inputs;
    std::shared_ptr<std::vector<graph::Tensor>>
        outputs;                // no tensor here is shared: runs write where it lies
    std::vector<Tensor> shown;  // views of `outputs`, which they keep alive
};

Result<Binding> Binding::of(const Model& model, std::span<const Tensor> inputs) {
    return api::answer([&]() -> viridian::Result<Binding> {
        const auto outputs = std::make_shared<std::vector<graph::Tensor>>();
        VIRIDIAN_TRY(std::vector<graph::Tensor> given, borrowed(inputs, model.inputs()));
        const auto state = std::make_shared<State>(State{model, std::move(given), outputs, {}});
        for (const Port& port : model.outputs()) {
            const graph::Tensor& made = outputs->emplace_back(api::from_public(port.element), port.shape);
            state->shown.push_back(Tensor::view(port.element, made.bytes(), port.shape));
            state->shown.back().data_ = std::shared_ptr<const void>(outputs, made.bytes());
        }
        return Binding(state);
    });
}

const std::vector<Tensor>& Binding::outputs() const { return state_->shown; }

Result<Done> Binding::run() {
    return api::answer([&]() -> viridian::Result<Done> {
        VIRIDIAN_TRY(state_->model.state_->executable->run(state_->inputs, *state_->outputs));
        return Done{};
    });
}

Result<std::vector<Tensor>> Model::run(std::span<const Tensor> inputs) const {
    return api::answer([&]() -> viridian::Result<std::vector<Tensor>> {
        VIRIDIAN_TRY(const std::vector<graph::Tensor> given, borrowed(inputs, state_->inputs));
        std::vector<graph::Tensor> made;
        for (const Port& port : state_->outputs)
            made.emplace_back(api::from_public(port.element), port.shape);
        VIRIDIAN_TRY(state_->executable->run(given, made));
        std::vector<Tensor> outputs;
        for (std::size_t i = 0; i < made.size(); ++i) {
            const auto owner = std::make_shared<graph::Tensor>(std::move(made[i]));
            const Port& port = state_->outputs[i];
            outputs.push_back(Tensor::view(port.element, owner->bytes(), port.shape));
            outputs.back().data_ = std::shared_ptr<const void>(owner, owner->bytes());
        }
        return outputs;
    });
}

}  // namespace viridian::v1
