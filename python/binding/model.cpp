// Opening, running and optimising models from Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/binding/parts.hpp"
#include "python/binding/tensors.hpp"
#include "viridian/api/convert.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::python {
namespace {

v1::OpenOptions options_of(const nb::dict& given) {
    v1::OpenOptions options;
    const auto take = [&](const char* key, auto& to) {
        if (given.contains(key)) to = nb::cast<std::decay_t<decltype(to)>>(given[key]);
    };
    take("threads", options.threads);
    take("pin", options.pin);
    take("dimensions", options.dimensions);
    take("batch", options.batch);
    take("bf16", options.bf16);
    take("exact_arithmetic", options.exact_arithmetic);
    take("as_f32", options.as_f32);
    take("cost_database", options.cost_database);
    take("meter", options.meter);
    take("memory", options.memory);
    return options;
}

nb::list ports(const std::vector<v1::Port>& ports) {
    nb::list all;
    for (const v1::Port& port : ports)
        all.append(nb::make_tuple(port.name, name_of(port.element), port.shape));
    return all;
}

nb::tuple energy(const v1::Energy& energy) {
    return nb::make_tuple(energy.joules, energy.low, energy.high, energy.provenance);
}

struct Lent {
    std::vector<Input> inputs;
    std::vector<v1::Tensor> tensors;
};
Lent lend(const nb::sequence& given, const std::vector<v1::Port>& ports, Sizes sizes) {
    if (nb::len(given) != ports.size())
        throw Failure{{"invalid_argument",
                       "the model takes " + std::to_string(ports.size()) + " inputs, and got " +
                           std::to_string(nb::len(given)),
                       "give one tensor per input, in the order of get_inputs()"}};
    Lent lent;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        lent.inputs.push_back(input_from(given[i], ports[i], sizes));
        lent.tensors.push_back(lent.inputs.back().tensor);
    }
    return lent;
}

// Lends the inputs to the model, runs it without the interpreter's lock, and hands the outputs over.
nb::list run(const v1::Model& model, const nb::sequence& given, bool bits) {
    const Lent lent = lend(given, model.inputs(), Sizes::of_port);
    auto outputs = [&] {
        const nb::gil_scoped_release released;
        return model.run(lent.tensors);
    }();
    nb::list all;
    for (v1::Tensor& tensor : value_or_throw(std::move(outputs)))
        all.append(array_of(std::move(tensor), bits));
    return all;
}

// Inputs and outputs of a model that stay where they are from run to run.
class Binding {
  public:
    Binding(const v1::Model& model, const nb::sequence& given)
        : lent_(lend(given, model.inputs(), Sizes::of_port)),
          binding_(value_or_throw(v1::Binding::of(model, lent_.tensors))) {
        for (std::size_t i = 0; i < lent_.inputs.size(); ++i)
            if (lent_.tensors[i].mutable_data() != nullptr)
                throw Failure{{"invalid_argument",
                               "the input `" + model.inputs()[i].name +
                                   "` is not row-major, so that a run would read a copy of what it is now",
                               "bind a row-major array, in NumPy `numpy.ascontiguousarray(x)`"}};
    }
    [[nodiscard]] nb::list outputs(bool bits) const {
        nb::list all;
        for (const v1::Tensor& tensor : binding_.outputs()) all.append(array_of(tensor, bits));
        return all;
    }
    void run() {
        auto done = [&] {
            const nb::gil_scoped_release released;
            return binding_.run();
        }();
        value_or_throw(std::move(done));
    }

  private:
    Lent lent_;
    v1::Binding binding_;
};

// A model on the reference kernels, which need not know its sizes beforehand.
class Reference {
  public:
    explicit Reference(const std::string& file) : graph_(value_or_throw(onnx::load(file))) {
        for (const graph::ValueId id : graph_.inputs()) {
            const graph::Value& value = graph_.value(id);
            inputs_.push_back({value.name, api::to_public(value.type.element), {}});
        }
    }
    [[nodiscard]] nb::list run(const nb::sequence& given, bool bits) const {
        const Lent lent = lend(given, inputs_, Sizes::any);
        auto outputs = [&] {
            const nb::gil_scoped_release released;
            std::vector<graph::Tensor> tensors;
            for (const v1::Tensor& one : lent.tensors)
                tensors.emplace_back(
                    api::from_public(one.element()), one.shape(),
                    std::shared_ptr<const std::byte>(std::make_shared<v1::Tensor>(one),
                                                     static_cast<const std::byte*>(one.data())));
            return graph::evaluate(graph_, tensors);
        }();
        nb::list all;
        for (const graph::Tensor& one : value_or_throw(std::move(outputs))) {
            v1::Tensor tensor(api::to_public(one.type()), one.dims());
            std::copy_n(one.bytes(), one.byte_count(), static_cast<std::byte*>(tensor.mutable_data()));
            all.append(array_of(std::move(tensor), bits));
        }
        return all;
    }

  private:
    graph::Graph graph_;
    std::vector<v1::Port> inputs_;
};

// Says what inputs and outputs a model has, before its sizes are bound: (name, element, dimensions), where a
// dimension is a number, a name, or None.
nb::tuple describe(const std::string& file) {
    auto read = [&] {
        const nb::gil_scoped_release released;
        return onnx::load(file);
    }();
    const graph::Graph graph = value_or_throw(std::move(read));
    const auto list = [&](const std::vector<graph::ValueId>& values) {
        nb::list all;
        for (const graph::ValueId id : values) {
            const graph::Value& value = graph.value(id);
            nb::object shape = nb::none();
            if (value.type.shape) {
                nb::list dimensions;
                for (const graph::Dimension& dimension : *value.type.shape) {
                    if (dimension.known())
                        dimensions.append(dimension.value());
                    else if (dimension.symbol().empty())
                        dimensions.append(nb::none());
                    else
                        dimensions.append(dimension.symbol());
                }
                shape = dimensions;
            }
            all.append(nb::make_tuple(value.name, std::string(graph::name_of(value.type.element)), shape));
        }
        return all;
    };
    return nb::make_tuple(list(graph.inputs()), list(graph.outputs()));
}

// Tells Python what an optimisation does. What Python raises meanwhile, Ctrl-C among it, ends the work.
class Reporter final : public v1::Listener {
  public:
    explicit Reporter(nb::object tell) : tell_(std::move(tell)) {}
    void progress(const std::string& text) override { say("progress", text); }
    void note(const std::string& text) override { say("note", text); }
    void warning(const std::string& text) override { say("warning", text); }
    bool cancelled() override {
        const nb::gil_scoped_acquire acquired;
        if (!raised_ && PyErr_CheckSignals() != 0) raised_.emplace();
        return raised_.has_value();
    }
    void rethrow() const {
        if (raised_) throw *raised_;
    }

  private:
    void say(const char* kind, const std::string& text) {
        const nb::gil_scoped_acquire acquired;
        if (tell_.is_none() || raised_) return;
        try {
            tell_(kind, text);
        } catch (const nb::python_error& error) {
            raised_.emplace(error);
        }
    }
    nb::object tell_;
    std::optional<nb::python_error> raised_;
};

v1::Optimized optimize(const std::string& file, const nb::dict& given, const std::string& objective,
                       const std::string& budget, std::optional<double> max_error, bool keep_original,
                       const nb::object& tell) {
    v1::OptimizeOptions options;
    static_cast<v1::OpenOptions&>(options) = options_of(given);
    options.objective = objective;
    options.budget = budget;
    options.max_error = max_error;
    options.keep_original = keep_original;
    Reporter reporter(tell);
    auto result = [&] {
        const nb::gil_scoped_release released;
        return v1::optimize(file, options, &reporter);
    }();
    reporter.rethrow();
    return value_or_throw(std::move(result));
}

}  // namespace

void add_models(nb::module_& module) {
    nb::class_<v1::Model>(module, "Model", "A model that is ready to run.")
        .def_static(
            "open",
            [](const std::string& file, const nb::dict& given) {
                const v1::OpenOptions options = options_of(given);
                auto model = [&] {
                    const nb::gil_scoped_release released;
                    return v1::Model::open(file, options);
                }();
                return value_or_throw(std::move(model));
            },
            nb::arg("file"), nb::arg("options"))
        .def_prop_ro("inputs", [](const v1::Model& model) { return ports(model.inputs()); })
        .def_prop_ro("outputs", [](const v1::Model& model) { return ports(model.outputs()); })
        .def_prop_ro("threads", &v1::Model::threads)
        .def("run", &run, nb::arg("inputs"), nb::arg("bits") = false);
    nb::class_<Binding>(module, "Binding", "Inputs and outputs that stay where they are from run to run.")
        .def(nb::init<const v1::Model&, const nb::sequence&>(), nb::arg("model"), nb::arg("inputs"))
        .def("outputs", &Binding::outputs, nb::arg("bits") = false)
        .def("run", &Binding::run);
    nb::class_<Reference>(module, "Reference", "A model on the reference kernels, of any sizes.")
        .def(nb::init<const std::string&>(), nb::arg("file"), nb::call_guard<nb::gil_scoped_release>())
        .def("run", &Reference::run, nb::arg("inputs"), nb::arg("bits") = false);
    nb::class_<v1::Optimized>(module, "Optimized", "The result of an optimisation.")
        .def_prop_ro("seconds_before", &v1::Optimized::seconds_before)
        .def_prop_ro("seconds_after", &v1::Optimized::seconds_after)
        .def_prop_ro("energy_before", [](const v1::Optimized& one) { return energy(one.energy_before()); })
        .def_prop_ro("energy_after", [](const v1::Optimized& one) { return energy(one.energy_after()); })
        .def_prop_ro("kept_original", &v1::Optimized::kept_original)
        .def("text", &v1::Optimized::text)
        .def("json", &v1::Optimized::json)
        .def(
            "save", [](const v1::Optimized& one, const std::string& file) { value_or_throw(one.save(file)); },
            nb::arg("file"), nb::call_guard<nb::gil_scoped_release>())
        .def("model", &v1::Optimized::model);
    module.def("describe", &describe, nb::arg("file"));
    module.def("optimize", &optimize, nb::arg("file"), nb::arg("options"), nb::arg("objective"),
               nb::arg("budget"), nb::arg("max_error").none(), nb::arg("keep_original"),
               nb::arg("tell").none());
    module.def("version", &v1::version);
}

}  // namespace viridian::python
