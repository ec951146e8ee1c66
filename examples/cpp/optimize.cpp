// Optimises a model and runs the result from eight threads at once.
//     ./optimize model.onnx
#include <cstdio>
#include <thread>
#include <viridian/viridian.hpp>

int main(int, char** arguments) {
    auto found = viridian::v1::optimize(arguments[1], {});
    if (!found) return std::fprintf(stderr, "%s\n", found.error().text().c_str()), 1;
    std::printf("%s", found->text().c_str());
    const viridian::v1::Model model = (*std::move(found)).model();
    const auto& port = model.inputs()[0];
    const viridian::v1::Tensor input(port.element, port.shape);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] { std::printf("%s\n", model.run({{input}}) ? "ran" : "failed"); });
}
