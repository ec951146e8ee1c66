#include "viridian/rewrite/certificate.hpp"

#include <charconv>

namespace viridian::rewrite {
namespace {

constexpr std::string_view schema = "viridian.certificate/1";

std::optional<std::uint64_t> hash_of(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string()) return std::nullopt;
    const auto& text = found->get_ref<const std::string&>();
    std::uint64_t hash = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(hash)
                                                                                     : std::nullopt;
}

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
    const auto before = hash_of(entry, "before");
    const auto after = hash_of(entry, "after");
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

Json to_json(const Certificate& certificate) {
    Json json = {{"schema", schema}, {"applications", Json::array()}};
    for (const Application& entry : certificate)
        json["applications"].push_back({{"rule", entry.rule},
                                        {"at", index(entry.at)},
                                        {"node", entry.node},
                                        {"removed", entry.removed},
                                        {"before", fmt::format("{:016x}", entry.before)},
                                        {"after", fmt::format("{:016x}", entry.after)}});
    return json;
}

Result<Certificate> certificate_of(const Json& json) {
    const auto refuse = [](const std::string& what) {
        return fail(ErrorCode::malformed, "write the certificate again with `viridian optimize`", "{}", what);
    };
    if (!json.is_object() || json.value("schema", Json()) != schema)
        return refuse(fmt::format("the certificate's schema is not {}", schema));
    const auto list = json.find("applications");
    if (list == json.end() || !list->is_array()) return refuse("the certificate has no applications");
    Certificate certificate;
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto application = application_of((*list)[i]);
        if (!application) return refuse(fmt::format("entry {} of the certificate is not complete", i));
        certificate.push_back(*std::move(application));
    }
    return certificate;
}

}  // namespace viridian::rewrite
