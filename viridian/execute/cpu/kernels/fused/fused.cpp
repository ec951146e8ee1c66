// Offers programs (program.hpp) as kernels.
#include <algorithm>

#include "viridian/execute/cpu/kernels/fused/run_program.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view fused_family_name = "simd:fused";
// `simd:fused:stream` computes what `simd:fused` does, and stores whole outputs past the caches. It is
// offered if these have at least `least_streamed` bytes together, and rows have `least_row` to `most_row`
// bytes. It is listed first, so that it is chosen without measured prices, if inputs and whole outputs have
// at least `surely_streamed` bytes and no choice overwrites an input.
constexpr std::string_view streaming_name = "simd:fused:stream";
constexpr std::int64_t least_streamed = 2 << 20, surely_streamed = 32 << 20, least_row = 1024,
                       most_row = 65536;

// The layouts in which a program may run. Regions with several results stay row-major, because the
// matrix products before and after them do.
std::vector<plan::Layout> layouts_of(const Program& program, std::size_t outputs) {
    const std::size_t rank = program.dims.size();
    std::vector<plan::Layout> list = {plan::plain(rank)};
    if (program.in_rows || outputs != 1) return list;
    if (rank > 2)
        list.insert(list.end(), {plan::channels_last(rank), plan::channels_blocked(rank, 16),
                                 plan::channels_blocked(rank, 8)});
    if (rank == 4) list.push_back(plan::permuted({0, 2, 1, 3}));
    return list;
}

bool has_padding(const plan::Layout& layout, const graph::Dims& dims) {
    return std::ranges::any_of(layout.blocks,
                               [&](const auto& block) { return dims[block.dimension] % block.size != 0; });
}

// Returns the program with the formats and pieces of `choice`, for whose layout it was read.
Program stored(Program program, const Task& task, const plan::Choice& choice) {
    program.store(task, choice);
    return program;
}

bool makes_state(const Task& task) {
    return std::ranges::any_of(task.graph.states(), [&](const graph::State& state) {
        return std::ranges::find(task.region.outputs, state.after) != task.region.outputs.end();
    });
}

// Adds a streaming copy of each choice that overwrites no input, if its whole outputs are large. Regions that
// make a state get none, because the lines of the state were read into a cache already.
void offer_streaming(const Task& task, const Program& program, std::vector<plan::Choice>& choices) {
    const std::int64_t row = program.n * float_bytes;
    if (makes_state(task) || (program.in_rows && (row < least_row || row > most_row))) return;
    std::vector<plan::Choice> first, last;
    bool overwrites = false;
    for (plan::Choice choice : choices) {
        std::int64_t made = 0, read = 0;
        for (std::size_t i = 0; i < choice.outputs.size(); ++i)
            if (program.writes_whole(i))
                made += plan::buffer_bytes(choice.outputs[i], task.dims(task.region.outputs[i]));
        for (std::size_t i = 0; i < choice.inputs.size(); ++i)
            read += plan::buffer_bytes(choice.inputs[i], task.dims(task.region.inputs[i]));
        overwrites = overwrites || choice.aliasing == plan::Aliasing::overwrite;
        if (made < least_streamed || choice.aliasing == plan::Aliasing::overwrite) continue;
        choice.kernel = streaming_name;
        choice.variant.streams = true;
        // An estimate alone must not make plans use more memory.
        (made + read >= surely_streamed && !overwrites ? first : last).push_back(std::move(choice));
    }
    choices.insert(choices.begin(), first.begin(), first.end());
    choices.insert(choices.end(), last.begin(), last.end());
}

// Appends `choice`, and before it a copy that overwrites the first whole input that may be overwritten.
void add_choice(const Task& task, const Program& program, const plan::Choice& choice,
                std::vector<plan::Choice>& choices) {
    if (choice.outputs.size() == 1 && program.writes_whole(0))
        for (std::size_t i = 0; i < choice.inputs.size(); ++i)
            if (task.region.dies[i] && program.reads_whole(i)) {
                plan::Choice in_place = choice;
                in_place.aliasing = plan::Aliasing::overwrite;
                in_place.overwritten = i;
                choices.push_back(std::move(in_place));
                break;
            }
    choices.push_back(choice);
}

std::vector<plan::Choice> offers_fused(const Task& task) {
    const auto program = fused_program(task);
    if (!program) return {};
    std::vector<plan::Choice> choices;
    std::vector<std::pair<plan::Layout, Program>> read;
    for (const plan::Layout& layout : layouts_of(*program, task.region.outputs.size())) {
        auto laid = fused_program(task, &layout);
        if (!laid || (has_padding(layout, laid->dims) && !laid->keeps_padding())) continue;
        plan::Choice choice = task.plain_choice(std::string(fused_family_name));
        choice.variant.keeps_nan = true;
        if (!laid->in_rows) {
            for (std::size_t i = 0; i < choice.inputs.size(); ++i)
                if (laid->reads_whole(i)) choice.inputs[i].layout = layout;
            for (plan::Format& output : choice.outputs) output.layout = layout;
        }
        add_choice(task, *laid, choice, choices);
        read.emplace_back(layout, *std::move(laid));
    }
    offer_widened(
        task, [&](std::size_t i) { return program->reads_whole(i); }, choices,
        [&](std::size_t i) { return program->writes_whole(i); });
    offer_streaming(task, *program, choices);
    for (plan::Choice& choice : choices) {
        const auto of_layout = [&](const auto& each) { return each.first == choice.outputs[0].layout; };
        const auto laid = std::ranges::find_if(read, of_layout);
        const Program& of = laid == read.end() ? *program : laid->second;
        choice.workspace = program_workspace(stored(of, task, choice), task.context.threads);
    }
    return choices;
}

Result<Kernel> prepare_fused(const Task& task, const plan::Choice& choice) {
    auto read = fused_program(task);
    if (read && !read->in_rows) read = fused_program(task, &choice.outputs[0].layout);
    if (!read) return unknown_kernel(choice);
    Program program = stored(*std::move(read), task, choice);
    Kernel kernel;
    kernel.constants = std::exchange(program.constants, {});
    kernel.workspace = program_workspace(program, task.context.threads);
    Traffic traffic = {.streams = choice.variant.streams};
    for (const plan::Format& format : choice.outputs) traffic.narrow.push_back(in_bf16(format));
    for (std::size_t i = 0; i < choice.inputs.size(); ++i)
        if (in_bf16(choice.inputs[i]) || program.reads_whole(i))
            traffic.read.emplace_back(i, size_of(choice.inputs[i].element));
    kernel.run = [program = std::move(program), traffic = std::move(traffic), threads = task.context.threads](
                     const Pointers& pointers) { run_program(program, traffic, threads, pointers); };
    return kernel;
}

}  // namespace

Family fused_family() { return {fused_family_name, offers_fused, prepare_fused, true}; }

}  // namespace viridian::execute::cpu
