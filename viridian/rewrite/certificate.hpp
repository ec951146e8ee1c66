#pragma once
// Certificates as files: `OUT.certificate.json`, {"schema": "viridian.certificate/2", "count": 3, "final":
// HASH, "applications": [...]}, hashes in hexadecimal. Count and final hash say where the certificate ends.
#include "viridian/base/json.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

struct CertificateFile {
    Certificate applications;
    std::uint64_t final_hash = 0;  // of the graph that they make
};

[[nodiscard]] Json to_json(const CertificateFile& file);
// Errors: malformed, naming the entry or the field that is not of a certificate.
[[nodiscard]] Result<CertificateFile> certificate_of(const Json& json);

// replay() that must end in the graph that the file names. Errors: mismatch.
[[nodiscard]] Result<Graph> replay_file(Graph graph, const CertificateFile& file);

}  // namespace viridian::rewrite
