#include "viridian/plan/choice.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

namespace viridian::plan {
namespace {

constexpr std::int64_t most_workspace = std::int64_t{1} << 40U;
constexpr std::int64_t most_threads = 1024;
constexpr std::string_view before_threads = " on ";  // in a choice's key
constexpr std::string_view aliasing_names[] = {"none", "overwrite", "view", "gather"};
constexpr std::string_view algorithm_names[] = {"unknown",       "direct",   "winograd",
                                                "winograd_bf16", "strassen", "reference"};
constexpr std::string_view split_names[] = {"rows", "channels", "shared"};

std::string format_list(const std::vector<Format>& formats) {
    std::string out;
    for (const Format& format : formats) out += (out.empty() ? "" : " ") + text(format);
    return out;
}

Error malformed_choice(std::string_view what) {
    return fail(ErrorCode::malformed, "write the plan again with `viridian optimize`",
                "a choice in the plan {}", what);
}

Result<std::vector<Format>> formats_from_json(const Json& json, const char* key) {
    if (!json.contains(key) || !json[key].is_array())
        return malformed_choice(fmt::format("lacks the list `{}`", key));
    std::vector<Format> formats;
    for (const Json& item : json[key]) {
        if (!item.is_string())
            return malformed_choice(fmt::format("has a `{}` entry that is no format", key));
        VIRIDIAN_TRY(Format format, parse_format(item.get<std::string>()));
        formats.push_back(std::move(format));
    }
    return formats;
}

// The position of `json[key]` among `names`; the first one's if there is no such key.
template <class Enumeration, std::size_t count>
Result<Enumeration> named(const Json& json, const char* key, const std::string_view (&names)[count]) {
    if (!json.contains(key)) return static_cast<Enumeration>(0);
    const auto* const known = std::ranges::find_if(names, [&](auto name) { return json[key] == name; });
    if (known == std::end(names)) return malformed_choice(fmt::format("has an unknown {}", key));
    return static_cast<Enumeration>(known - std::begin(names));
}

}  // namespace

std::string Choice::key() const {
    std::string out = fmt::format("{} ({}) -> ({})", kernel, format_list(inputs), format_list(outputs));
    if (aliasing != Aliasing::none)
        out += fmt::format(" {}", aliasing_names[static_cast<std::size_t>(aliasing)]);
    if (aliasing == Aliasing::overwrite) out += fmt::format(" {}", overwritten);
    if (threads != 0) out += fmt::format("{}{}", before_threads, threads);
    return out;
}

std::string key_on_all_threads(const std::string& key) { return key.substr(0, key.rfind(before_threads)); }

Json to_json(const Choice& choice) {
    Json json = {{"kernel", choice.kernel}, {"inputs", Json::array()}, {"outputs", Json::array()}};
    for (const Format& format : choice.inputs) json["inputs"].push_back(text(format));
    for (const Format& format : choice.outputs) json["outputs"].push_back(text(format));
    json["aliasing"] = aliasing_names[static_cast<std::size_t>(choice.aliasing)];
    if (choice.aliasing == Aliasing::overwrite) json["overwritten"] = choice.overwritten;
    json["workspace_bytes"] = choice.workspace.value;
    if (choice.variant.streams) json["streams"] = true;
    if (choice.variant.algorithm != Algorithm::unknown) {
        json["algorithm"] = algorithm_names[static_cast<std::size_t>(choice.variant.algorithm)];
        json["split"] = split_names[static_cast<std::size_t>(choice.variant.split)];
    }
    if (choice.threads != 0) json["threads"] = choice.threads;
    return json;
}

Result<Choice> choice_from_json(const Json& json) {
    if (!json.is_object() || !json.contains("kernel") || !json["kernel"].is_string())
        return malformed_choice("names no kernel");
    Choice choice;
    choice.kernel = json["kernel"];
    VIRIDIAN_TRY(choice.inputs, formats_from_json(json, "inputs"));
    VIRIDIAN_TRY(choice.outputs, formats_from_json(json, "outputs"));
    VIRIDIAN_TRY(choice.aliasing, named<Aliasing>(json, "aliasing", aliasing_names));
    if (json.contains("streams")) {
        if (!json["streams"].is_boolean())
            return malformed_choice("has a `streams` that is neither true nor false");
        choice.variant.streams = json["streams"];
    }
    VIRIDIAN_TRY(choice.variant.algorithm, named<Algorithm>(json, "algorithm", algorithm_names));
    VIRIDIAN_TRY(choice.variant.split, named<Split>(json, "split", split_names));
    if (json.contains("overwritten")) {
        if (!json["overwritten"].is_number_unsigned()) return malformed_choice("overwrites no input");
        choice.overwritten = json["overwritten"];
    }
    if (choice.aliasing == Aliasing::overwrite && choice.overwritten >= choice.inputs.size())
        return malformed_choice("overwrites an input it does not have");
    if (json.contains("workspace_bytes") && json["workspace_bytes"].is_number_integer())
        choice.workspace = Bytes(json["workspace_bytes"].get<std::int64_t>());
    if (choice.workspace.value < 0 || choice.workspace.value > most_workspace)
        return malformed_choice("asks for an impossible workspace");
    if (json.contains("threads")) {
        const Json& threads = json["threads"];
        if (!threads.is_number_integer() || threads < 1 || threads > most_threads)
            return malformed_choice("asks for an impossible number of threads");
        choice.threads = threads;
    }
    return choice;
}

}  // namespace viridian::plan
