// rooms: session optimize prove search cost rewrite execute plan onnx graph base
// The whole way of a model, from its bytes to its outputs: read, typed, simplified, planned at made-up
// prices, and run within a small budget of memory, once between guard pages. Any bytes are an error or
// outputs.
#include <cstring>
#include <new>

#include "fuzz/engine/counts.hpp"
#include "fuzz/engine/mutate_model.hpp"
#include "fuzz/engine/random_model.hpp"
#include "fuzz/engine/run_model.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t most);  // libFuzzer's own

namespace {

using namespace viridian;

bool mutated = false;  // the next input is new, not one of the corpus

// Writes `model` over `data` if there is room, else leaves `data` as it is.
std::size_t put(const std::string& model, std::uint8_t* data, std::size_t size, std::size_t most) {
    if (model.empty() || model.size() > most) return size;
    std::memcpy(data, model.data(), model.size());
    return model.size();
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Stage reached = fuzz::Stage::given;
    try {
        fuzz::run_model(text_of(data, size), reached);
    } catch (const std::bad_alloc&) {  // no memory is an answer; libFuzzer limits what may be asked for
    }
    if (mutated) fuzz::count(reached);
    mutated = false;
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    mutated = true;
    Random random(seed);
    if (random.chance(0.08)) return put(fuzz::random_model(random), data, size, most);
    if (random.chance(0.05)) return LLVMFuzzerMutate(data, size, most);
    const std::string model = fuzz::mutate_model(text_of(data, size), random);
    if (model.empty() || model.size() > most) return LLVMFuzzerMutate(data, size, most);
    return put(model, data, size, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size,
                                                 std::uint8_t* out, std::size_t most, unsigned seed) {
    mutated = true;
    Random random(seed);
    const std::string model =
        fuzz::graft_model(text_of(first, first_size), text_of(second, second_size), random);
    return put(model, out, 0, most);
}
