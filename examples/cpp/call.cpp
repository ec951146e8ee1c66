// Opens a model, or the plan that `viridian optimize` wrote beside one, and runs it on zeros.
//     ./call model.opt.plan.json
#include <cstdio>
#include <viridian/viridian.hpp>

int main(int count, char** arguments) {
    if (count != 2) return std::puts("usage: call MODEL.plan.json"), 1;
    const auto model = viridian::v1::Model::open(arguments[1]);
    if (!model) return std::fprintf(stderr, "%s\n", model.error().text().c_str()), 1;
    const viridian::v1::Port& port = model->inputs()[0];
    const viridian::v1::Tensor input(port.element, port.shape);
    const auto outputs = model->run({{input}});
    if (!outputs) return std::fprintf(stderr, "%s\n", outputs.error().text().c_str()), 1;
    std::printf("%s begins with %g\n", model->outputs()[0].name.c_str(), (*outputs)[0].values<float>()[0]);
}
