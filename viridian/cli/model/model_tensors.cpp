#include "viridian/cli/model/model_tensors.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "viridian/cli/natural_order.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"
#include "viridian/prove/inputs.hpp"

namespace viridian::cli {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

struct Given {
    std::string input;  // "": by position
    Path file;
};

std::string file_name_of(std::string_view output) {
    std::string name(output);
    for (char& c : name)
        if (c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < ' ') c = '_';
    return name.empty() || name.front() == '.' ? "_" + name : name;
}

// The N of `input_N`, as ONNX's test data name their files.
std::optional<std::size_t> position_of(std::string_view stem) {
    constexpr std::string_view prefix = "input_";
    if (!stem.starts_with(prefix)) return std::nullopt;
    stem.remove_prefix(prefix.size());
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), n);
    if (error != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
    return n;
}

Result<void> add_folder(const Graph& graph, const Path& folder, std::vector<Given>& given) {
    std::map<std::string, std::string> names;  // as a file → as the model says
    for (const ValueId id : run_inputs(graph))
        names.emplace(file_name_of(graph.value(id).name), graph.value(id).name);
    std::vector<Path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".npy" || entry.path().extension() == ".pb")
            files.push_back(entry.path());
    if (error)
        return fail(ErrorCode::file_unreadable, "check the folder", "cannot list `{}`: {}", folder.string(),
                    error.message());
    std::ranges::sort(files, natural_less, [](const Path& file) { return file.string(); });
    for (const Path& file : files) {
        const std::string stem = file.stem().string();
        if (const auto found = names.find(stem); found != names.end())
            given.push_back({found->second, file});
        else if (const auto position = position_of(stem); position && *position < graph.inputs().size())
            given.push_back({graph.value(graph.inputs()[*position]).name, file});
    }
    return {};
}

Result<std::vector<Given>> sort_out(const Graph& graph, const std::vector<std::string>& files) {
    std::vector<Given> given;
    for (const std::string& text : files) {
        std::error_code none;
        const auto equals = text.find('=');
        if (std::filesystem::is_directory(text, none)) {
            VIRIDIAN_TRY(add_folder(graph, text, given));
        } else if (equals != std::string::npos && !std::filesystem::exists(text, none)) {
            given.push_back({text.substr(0, equals), text.substr(equals + 1)});
        } else {
            given.push_back({"", text});
        }
    }
    return given;
}

std::string names_of_inputs(const Graph& graph) {
    std::string names;
    for (const ValueId id : graph.inputs())
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", graph.value(id).name);
    return names;
}

// What the files hold for each of the graph's inputs, at most `most` tensors each, in the files' order; then
// for each state, which has its first value unless a file is named for it.
Result<std::vector<std::vector<Tensor>>> read_inputs(const Graph& graph,
                                                     const std::vector<std::string>& files,
                                                     std::size_t most) {
    VIRIDIAN_TRY(const std::vector<Given> given, sort_out(graph, files));
    const std::vector<ValueId> ids = run_inputs(graph);
    std::vector<std::vector<Tensor>> found(ids.size());
    const auto place = [&](std::string_view name) {
        return std::ranges::find(ids, name, [&](ValueId id) { return graph.value(id).name; }) - ids.begin();
    };
    for (const bool named : {true, false})  // positions count what no name has taken
        for (const Given& one : given) {
            if (one.input.empty() == named) continue;
            VIRIDIAN_TRY(onnx::NamedTensor tensor, onnx::read_tensor_file(one.file));
            auto at = static_cast<std::size_t>(place(named ? one.input : tensor.name));
            if (!named && at == ids.size()) {
                const auto inputs = std::span(found).first(graph.inputs().size());
                const auto least = std::ranges::min_element(inputs, {}, &std::vector<Tensor>::size);
                if (least != inputs.end() && least->size() < most)
                    at = static_cast<std::size_t>(least - inputs.begin());
            }
            if (at == ids.size())
                return fail(ErrorCode::invalid_argument,
                            fmt::format("the model's inputs are {}", names_of_inputs(graph)),
                            "`{}` belongs to no input", one.file.string());
            const graph::Value& value = graph.value(ids[at]);
            if (found[at].size() == most)
                return fail(ErrorCode::invalid_argument, "give each input one file",
                            "`{}` is one file more for the input `{}`, and one set of inputs is run",
                            one.file.string(), value.name);
            if (tensor.tensor.type() != value.type.element || !value.type.known() ||
                tensor.tensor.dims() != value.type.dims())
                return fail(ErrorCode::mismatch, "give a tensor of the input's type, or bind --dim",
                            "`{}` holds {}, the input `{}` is {}", one.file.string(),
                            text(tensor.tensor.tensor_type()), value.name, text(value.type));
            found[at].push_back(std::move(tensor.tensor));
        }
    const std::size_t sets = graph.inputs().empty() ? 1 : found.front().size();
    for (std::size_t i = graph.inputs().size(); i < ids.size(); ++i)
        if (const Tensor* first = graph.first_value(ids[i]); first != nullptr && found[i].empty())
            found[i].assign(sets, *first);
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (found[i].empty())
            return fail(ErrorCode::missing_entry,
                        fmt::format("add --inputs {}=FILE.npy", graph.value(ids[i]).name),
                        "no file gives the input `{}`", graph.value(ids[i]).name);
    return found;
}

}  // namespace

Result<std::vector<Tensor>> model_inputs(const Graph& graph, const std::vector<std::string>& files,
                                         std::uint64_t seed) {
    if (files.empty()) return prove::seeded_inputs(graph, seed);
    VIRIDIAN_TRY(std::vector<std::vector<Tensor>> found, read_inputs(graph, files, 1));
    std::vector<Tensor> inputs;
    for (std::vector<Tensor>& one : found) inputs.push_back(std::move(one.front()));
    return inputs;
}

Result<std::vector<std::vector<Tensor>>> model_input_sets(const Graph& graph,
                                                          const std::vector<std::string>& files) {
    VIRIDIAN_TRY(std::vector<std::vector<Tensor>> found,
                 read_inputs(graph, files, std::numeric_limits<std::size_t>::max()));
    const std::vector<ValueId> ids = run_inputs(graph);
    std::vector<std::vector<Tensor>> sets(found.empty() ? 1 : found.front().size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].size() != sets.size())
            return fail(ErrorCode::invalid_argument, "give every input a file for each set",
                        "the input `{}` has {} files and `{}` has {}", graph.value(ids[0]).name, sets.size(),
                        graph.value(ids[i]).name, found[i].size());
        for (std::size_t set = 0; set < sets.size(); ++set) sets[set].push_back(std::move(found[i][set]));
    }
    return sets;
}

std::vector<Path> output_files(const Graph& graph, const Path& folder) {
    std::vector<Path> paths;
    for (const ValueId id : run_outputs(graph)) {
        const graph::Value& value = graph.value(id);
        const bool numpy = value.type.element != graph::ElementType::bf16;
        paths.push_back(folder / (file_name_of(value.name) + (numpy ? ".npy" : ".pb")));
    }
    return paths;
}

Result<std::vector<Path>> write_outputs(const Graph& graph, const std::vector<Tensor>& outputs,
                                        const Path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return fail(ErrorCode::file_not_writable, "choose another folder", "cannot make `{}`: {}",
                    folder.string(), error.message());
    std::vector<Path> paths = output_files(graph, folder);
    const std::vector<ValueId> ids = run_outputs(graph);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        VIRIDIAN_TRY(onnx::write_tensor_file(paths[i], {graph.value(ids[i]).name, outputs[i]}));
    return paths;
}

}  // namespace viridian::cli
