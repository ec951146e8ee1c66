#include "viridian/rewrite/certificate.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>
#include <charconv>

#include "viridian/graph/infer.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::string_view certificate_schema = "viridian.certificate/2";

std::optional<std::uint64_t> hash_field(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string()) return std::nullopt;
    const auto& text = found->get_ref<const std::string&>();
    std::uint64_t hash = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(hash)
                                                                                     : std::nullopt;
}

// The first key of `object` that is not in `known`.
std::optional<std::string> unknown_field(const Json& object, std::span<const std::string_view> known) {
    for (const auto& [key, value] : object.items())
        if (std::ranges::find(known, key) == known.end()) return key;
    return std::nullopt;
}

constexpr std::string_view file_fields[] = {"schema", "count", "final", "applications"};
constexpr std::string_view entry_fields[] = {"rule", "at", "node", "removed", "before", "after"};

std::optional<Application> application_of(const Json& entry) {
    if (!entry.is_object()) return std::nullopt;
    Application application;
    const auto text = [&](const char* key, std::string& to) {
        const auto found = entry.find(key);
        const bool good = found != entry.end() && found->is_string();
        if (good) to = found->get<std::string>();
        return good;
    };
    const auto at = entry.find("at");
    const auto removed = entry.find("removed");
    const auto before = hash_field(entry, "before");
    const auto after = hash_field(entry, "after");
    if (!text("rule", application.rule) || !text("node", application.node) || at == entry.end() ||
        !at->is_number_unsigned() || *at >= 0xffffffffU || removed == entry.end() || !removed->is_array() ||
        !before || !after)
        return std::nullopt;
    application.at = static_cast<NodeId>(at->get<std::uint32_t>());
    for (const Json& name : *removed) {
        if (!name.is_string()) return std::nullopt;
        application.removed.push_back(name.get<std::string>());
    }
    application.before = *before;
    application.after = *after;
    return application;
}

}  // namespace

Json to_json(const CertificateFile& file) {
    Json json = {{"schema", certificate_schema},
                 {"count", file.applications.size()},
                 {"final", fmt::format("{:016x}", file.final_hash)},
                 {"applications", Json::array()}};
    for (const Application& entry : file.applications)
        json["applications"].push_back({{"rule", entry.rule},
                                        {"at", index(entry.at)},
                                        {"node", entry.node},
                                        {"removed", entry.removed},
                                        {"before", fmt::format("{:016x}", entry.before)},
                                        {"after", fmt::format("{:016x}", entry.after)}});
    return json;
}

Result<CertificateFile> certificate_of(const Json& json) {
    const auto refuse = [](const std::string& what) {
        return fail(ErrorCode::malformed, "write the certificate again with `viridian optimize`", "{}", what);
    };
    if (!json.is_object() || json.value("schema", Json()) != certificate_schema)
        return refuse(fmt::format("the certificate's schema is not {}", certificate_schema));
    const auto list = json.find("applications");
    if (list == json.end() || !list->is_array()) return refuse("the certificate has no applications");
    if (const auto name = unknown_field(json, file_fields))
        return refuse(fmt::format("the certificate has a field `{}` that none has", *name));
    CertificateFile file;
    const auto final_hash = hash_field(json, "final");
    if (!final_hash) return refuse("the certificate does not name the graph that it ends in");
    file.final_hash = *final_hash;
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto application = application_of((*list)[i]);
        if (!application) return refuse(fmt::format("entry {} of the certificate is not complete", i));
        if (const auto name = unknown_field((*list)[i], entry_fields))
            return refuse(
                fmt::format("entry {} of the certificate has a field `{}` that none has", i, *name));
        file.applications.push_back(*std::move(application));
    }
    if (json.value("count", Json()) != Json(list->size()))
        return refuse(
            fmt::format("the certificate has {} applications, which is not its `count`", list->size()));
    return file;
}

Result<Graph> replay_file(Graph graph, const CertificateFile& file) {
    VIRIDIAN_TRY(Graph replayed, replay(std::move(graph), file.applications));
    if (structural_hash(replayed) == file.final_hash) return replayed;
    VIRIDIAN_TRY(infer_types(replayed));  // as after the last round of simplify()
    if (structural_hash(replayed) == file.final_hash) return replayed;
    return fail(ErrorCode::mismatch, "check the certificate against the model it was made from",
                "the {} applications end in another graph than the certificate's", file.applications.size());
}

}  // namespace viridian::rewrite
