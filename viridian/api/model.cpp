// Opening and running models through the public interface.
#include "viridian/api/state.hpp"

namespace viridian::v1 {
namespace {

std::vector<Port> ports_of(const graph::Graph& graph, const std::vector<graph::ValueId>& values) {
    std::vector<Port> ports;
    for (const graph::ValueId id : values) ports.push_back(api::port_of(graph.value(id)));
    return ports;
}

// The tensor's bytes, kept alive by it.
graph::Tensor borrowed(const Tensor& tensor) {
    return {api::from_public(tensor.element()),
            tensor.shape(),
            {std::make_shared<Tensor>(tensor), static_cast<const std::byte*>(tensor.data())}};
}

}  // namespace

std::size_t size_of(Element element) {
    return static_cast<std::size_t>(graph::size_of(api::from_public(element)));
}

Tensor::Tensor(Element element, std::vector<std::int64_t> shape)
    : element_(element), shape_(std::move(shape)), owned_(true) {
    data_ =
        std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(count()) * size_of(element)]());
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
    std::int64_t count = 1;
    for (const std::int64_t extent : shape_) count *= extent;
    return count;
}

void* Tensor::mutable_data() { return owned_ ? const_cast<void*>(data_.get()) : nullptr; }

std::shared_ptr<Model::State> Model::State::of(session::Session session) {
    auto state = std::make_shared<State>();
    state->session = std::move(session);
    const graph::Graph& graph = state->session.planned.graph;
    state->inputs = ports_of(graph, graph.inputs());
    state->outputs = ports_of(graph, graph.outputs());
    return state;
}

Result<Model> Model::open(const std::string& file, const OpenOptions& options) {
    const session::ModelOptions model = api::model_options(file, options);
    VIRIDIAN_API_TRY(session::LoadedModel loaded, session::load(model));
    VIRIDIAN_API_TRY(session::Session session, session::prepare(std::move(loaded), model));
    return Model(State::of(std::move(session)));
}

const std::vector<Port>& Model::inputs() const { return state_->inputs; }
const std::vector<Port>& Model::outputs() const { return state_->outputs; }
int Model::threads() const { return state_->session.device->threads(); }

Result<std::vector<Tensor>> Model::run(std::span<const Tensor> inputs) const {
    std::vector<graph::Tensor> given;
    for (const Tensor& tensor : inputs) given.push_back(borrowed(tensor));
    std::vector<Tensor> outputs;
    std::vector<graph::Tensor> made;
    for (const Port& port : state_->outputs) made.emplace_back(api::from_public(port.element), port.shape);
    const auto ran = api::guarded([&] { return state_->session.planned.executable->run(given, made); });
    if (!ran.ok()) return api::to_public(ran.error());
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto owner = std::make_shared<graph::Tensor>(std::move(made[i]));
        outputs.push_back(Tensor::view(state_->outputs[i].element, owner->bytes(), state_->outputs[i].shape));
        outputs.back().data_ = std::shared_ptr<const void>(owner, owner->bytes());
    }
    return outputs;
}

}  // namespace viridian::v1
