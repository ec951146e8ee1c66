#include "viridian/execute/cpu/bound_step.hpp"

#include "viridian/execute/cpu/kernels/movement/conversion.hpp"

namespace viridian::execute::cpu {

Result<Kernel> prepare_kernel(const Task& task, const plan::Choice& choice) {
    const Family* family = family_of(choice.kernel);
    if (family == nullptr || family->prepare == nullptr) return unknown_kernel(choice);
    try {
        if (choice.variant.algorithm == plan::Algorithm::unknown)
            for (const plan::Choice& offered : family->offers(task))
                if (offered.key() == choice.key()) return family->prepare(task, offered);
        return family->prepare(task, choice);
    } catch (const dnnl::error& error) {
        return fail(ErrorCode::device_failed, "report the model", "oneDNN cannot prepare `{}`: {}",
                    choice.key(), error.what());
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::out_of_memory, "free memory, or use a smaller batch",
                    "there is no memory for the weights of `{}`", task.node().name);
    }
}

Result<Kernel> prepare_here(const Context& context, const graph::Graph& graph, const plan::Plan& plan,
                            const plan::Step& step) {
    if (step.kind == plan::Step::Kind::kernel)
        return prepare_kernel(Task{context, graph, step.region}, step.choice);
    const plan::Buffer& from = plan.buffers[step.inputs.empty() ? step.outputs[0] : step.inputs[0]];
    return prepare_conversion(context, from.dims, from.format, plan.buffers[step.outputs[0]].format);
}

Result<Kernel> prepare_step(const Context& context, const graph::Graph& graph, const plan::Plan& plan,
                            const plan::Step& step) {
    const bool computes = step.kind == plan::Step::Kind::kernel;
    const int asked = computes ? step.choice.threads : plan.threads;
    const int threads = asked < context.threads ? asked : 0;  // a device may have fewer than a plan asks for
    const Context own = context.on(threads);
    const OnThreads on(threads);
    VIRIDIAN_TRY(Kernel kernel, prepare_here(own, graph, plan, step));
    kernel.threads = threads;
    return kernel;
}

void BoundStep::point(std::byte* workspace) {
    for (const Packed& packed : kernel->constants) constants.push_back(packed->data());
    if (kernel->make_bindings) bindings = kernel->make_bindings();
    pointers = {inputs.data(), outputs.data(), constants.data(), workspace, bindings.get()};
}

}  // namespace viridian::execute::cpu
