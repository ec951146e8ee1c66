// Optimises a model, runs the result from eight threads at once, and compares with runs one after the other.
// Returns 1 if an output differs. Every kernel is measured first, which takes a minute or more; with a file
// name in OptimizeOptions::cost_database the prices are kept for the next time.
//     ./optimize model.onnx
#include <algorithm>
#include <cstdio>
#include <thread>
#include <viridian/viridian.hpp>

int main(int count, char** arguments) {
    if (count != 2) return std::puts("usage: optimize MODEL.onnx"), 1;
    auto found = viridian::v1::optimize(arguments[1]);
    if (!found) return std::fprintf(stderr, "%s\n", found.error().text().c_str()), 1;
    std::printf("%s", found->text().c_str());
    const viridian::v1::Model model = (*std::move(found)).model();
    std::vector<viridian::v1::Tensor> in, out(8);
    for (int i = 0; i < 8; ++i) in.emplace_back(model.inputs()[0].element, model.inputs()[0].shape);
    for (int i = 0; i < 8; ++i) std::fill_n(static_cast<float*>(in[i].mutable_data()), in[i].count(), i);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { out[i] = (*model.run({{in[i]}}))[0]; });
    threads.clear();  // waits for them
    for (int i = 0; i < 8; ++i)
        if (!std::ranges::equal(out[i].values<float>(), (*model.run({{in[i]}}))[0].values<float>())) return 1;
}
