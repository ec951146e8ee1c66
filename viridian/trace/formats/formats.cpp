#include "viridian/trace/formats/formats.hpp"

#include <algorithm>
#include <array>

namespace viridian::trace {

// Each is defined in the source of its name.
extern const Format viridian_json_format, kineto_format, torch_legacy_format, onnxruntime_format,
    tensorflow_timeline_format, tensorflow_profile_format, chrome_format;

namespace {

bool is_digit_formats(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit_formats(c) || c == '_';
}

// "encoder.layer.0": words with dots between them.
bool is_dotted(std::string_view text) {
    return !text.empty() && !is_digit_formats(text.front()) && text.find('.') != std::string_view::npos &&
           text.back() != '.' && text.find("..") == std::string_view::npos &&
           std::ranges::all_of(text, [](char c) { return is_word(c) || c == '.'; });
}

}  // namespace

std::span<const Format> formats() {
    static const std::array list = {viridian_json_format,
                                    kineto_format,
                                    torch_legacy_format,
                                    onnxruntime_format,
                                    tensorflow_timeline_format,
                                    tensorflow_profile_format,
                                    chrome_format};
    return list;
}

Sample sample_of(std::string_view text) {
    Sample sample;
    JsonEvents events(bytes_of(text));
    for (auto event = events.next(); event.ok() && *event != nullptr && sample.events < 4000;
         event = events.next()) {
        const JsonEvent& one = **event;
        if (one.phase() != '\0') ++sample.events;
        if (one.has(Key::cat)) ++sample.categories[std::string(one.text(Key::cat))];
        if (one.phase() == 'M' && one.text(Key::name) == "process_name")
            sample.processes.emplace(one.text(Key::arg_name));
        if (one[Key::pid].quoted) sample.processes.emplace(one.text(Key::pid));
        for (std::size_t key = 0; key < key_count; ++key)
            sample.arguments |= std::uint64_t{one.has(static_cast<Key>(key))} << key;
    }
    sample.bare_list = events.bare_list();
    for (const auto& [key, value] : events.top()) sample.top.insert(key);
    return sample;
}

void name_scope(TraceTables& tables, Raw& raw, const JsonValue& name) {
    raw.kind = Kind::scope;
    raw.name = raw.type = tables.name(name);
    const std::string_view text = tables.about.names[raw.name];
    const std::size_t hash = text.rfind('#');
    if (hash != std::string_view::npos && hash > 0 && hash + 1 < text.size() &&
        std::ranges::all_of(text.substr(hash + 1), is_digit_formats)) {
        raw.type = tables.name(text.substr(0, hash));
        raw.no_part = true;
    } else if (text.find('/') != std::string_view::npos) {
        raw.path = tables.path_of(raw.name, '/');
        raw.relative = true;
    } else if (is_dotted(text)) {
        raw.path = tables.path_of(raw.name, '.');
        raw.relative = true;
    }
}

void name_path(TraceTables& tables, Raw& raw, std::string_view text) {
    raw.path = tables.path_of(tables.name(text));
    raw.scope = tables.about.paths.parent(raw.path);
}

Kind kind_of_category(std::string_view category) {
    if (category == "kernel") return Kind::kernel;
    if (category == "gpu_memcpy") return Kind::copy;
    if (category == "gpu_memset") return Kind::fill;
    if (category.ends_with("_runtime") || category.ends_with("_driver")) return Kind::launch;
    if (category == "user_annotation") return Kind::scope;
    if (category == "python_function") return Kind::function;
    if (category == "cpu_instant_event") return Kind::marker;
    if (category == "module") return Kind::module;
    if (category == "gpu_user_annotation" || category == "overhead" || category == "Trace" ||
        category == "cuda_sync" || category == "cuda_event" || category == "external_correlation")
        return Kind::overhead;
    return Kind::operation;
}

}  // namespace viridian::trace
