#pragma once
// Certificates as files: `OUT.certificate.json`, {"schema": "viridian.certificate/1", "applications": [...]},
// hashes in hexadecimal.
#include "viridian/base/json.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

[[nodiscard]] Json to_json(const Certificate& certificate);
// Errors: malformed, naming the entry.
[[nodiscard]] Result<Certificate> certificate_of(const Json& json);

}  // namespace viridian::rewrite
