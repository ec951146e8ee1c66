#include "viridian/optimize/files/sidecar.hpp"

#include "viridian/base/json.hpp"

#include <algorithm>

#include "viridian/base/hash.hpp"

namespace viridian::optimize {
namespace {

Error malformed(std::string_view what) {
    return fail(ErrorCode::malformed, "write the plan again with `viridian optimize`", "the plan {}", what);
}

// Of the content: spaces and the order of fields are nobody's business.
std::string digest(const Json& sidecar) {
    nlohmann::json sorted = nlohmann::json::parse(json_dump(sidecar, -1));
    sorted.erase("digest");
    return fmt::format("{:016x}", Hash{}.add(std::string_view(sorted.dump())).value());
}

Result<std::vector<std::string>> texts(const Json& sidecar, const char* key) {
    std::vector<std::string> list;
    if (!sidecar.contains(key)) return list;
    if (!sidecar[key].is_array()) return malformed(fmt::format("has `{}` that is no list", key));
    for (const Json& item : sidecar[key]) {
        if (!item.is_string()) return malformed(fmt::format("has `{}` that is no list of texts", key));
        list.push_back(item.get<std::string>());
    }
    return list;
}

}  // namespace

Json sidecar_json(const graph::Graph& graph, const plan::Plan& plan, const Request& request) {
    Json json = plan::to_json(graph, plan);
    if (request.objective) json["objective"] = *request.objective;
    json["precisions"] = request.bf16 ? Json::array({"f32", "bf16"}) : Json::array({"f32"});
    if (request.max_error) json["max_error"] = *request.max_error;
    if (request.exact_arithmetic) json["exact_arithmetic"] = true;
    json["digest"] = digest(json);
    return json;
}

Result<Request> request_of(const Json& sidecar) {
    if (!sidecar.is_object()) return malformed("is no JSON object");
    Request request;
    if (sidecar.contains("objective")) {
        if (!sidecar["objective"].is_string()) return malformed("has an objective that is no text");
        request.objective = sidecar["objective"].get<std::string>();
    }
    VIRIDIAN_TRY(const std::vector<std::string> precisions, texts(sidecar, "precisions"));
    for (const std::string& precision : precisions)
        if (precision != "f32" && precision != "bf16")
            return malformed(fmt::format("allows an unknown precision `{}`", precision));
    request.bf16 = std::ranges::find(precisions, "bf16") != precisions.end();
    if (sidecar.contains("max_error")) {
        const Json& most = sidecar["max_error"];
        if (!most.is_number() || !(most.get<double>() > 0) || most.get<double>() > 1)
            return malformed("has a max_error that is no number between 0 and 1");
        request.max_error = most.get<double>();
    }
    if (sidecar.contains("exact_arithmetic")) {
        if (!sidecar["exact_arithmetic"].is_boolean())
            return malformed("has an exact_arithmetic that is neither true nor false");
        request.exact_arithmetic = sidecar["exact_arithmetic"].get<bool>();
    }
    return request;
}

bool changed_since_written(const Json& sidecar) {
    return sidecar.is_object() && sidecar.contains("digest") && sidecar["digest"] != digest(sidecar);
}

}  // namespace viridian::optimize
