#include "viridian/cost/recorded.hpp"

#include "viridian/base/json.hpp"

#include "viridian/cost/recording.hpp"
#include "viridian/cost/synthetic.hpp"

namespace viridian::cost {

Result<Recorded> recorded_from_json(const Json& json) {
    const bool named = json.is_object() && json.contains("schema") && json["schema"].is_string();
    const auto schema = named ? json["schema"].get<std::string>() : std::string();
    if (schema == processor_schema) {
        VIRIDIAN_TRY(Processor processor, processor_from_json(json));
        const Provenance provenance{Provenance::Kind::estimated, processor.name};
        const std::string device = fmt::format("{}, seed {}", processor.name, processor.seed);
        return Recorded{device, provenance.text(), schema, synthetic(std::move(processor))};
    }
    if (schema == recording_schema) {
        VIRIDIAN_TRY(Recording recording, Recording::from_json(json));
        const auto shared = std::make_shared<const Recording>(std::move(recording));
        return Recorded{shared->device, shared->provenance.text(), schema, Recording::source(shared)};
    }
    return fail(ErrorCode::unsupported,
                fmt::format("give a file with the schema {} or {}", recording_schema, processor_schema),
                "`{}` is no schema of recorded prices", schema);
}

}  // namespace viridian::cost
