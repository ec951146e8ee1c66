#pragma once
// Writes and reads certificates as files, `OUT.certificate.json`: {"schema": "viridian.certificate/2",
// "count": 3, "final": HASH, "applications": [...]} with hashes in hexadecimal. The count and the final hash
// show a truncated file.
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

// A CertificateFile is the content of such a file.
struct CertificateFile {
    Certificate applications;
    std::uint64_t final_hash = 0;  // structural hash of the graph that they make
};

// Writes a certificate.
[[nodiscard]] Json to_json(const CertificateFile& file);
// Reads a certificate. Errors: malformed, naming the entry or the field that no certificate has.
[[nodiscard]] Result<CertificateFile> certificate_of(const Json& json);

// Replays the file's applications on `graph`, which must end in the graph that the file names. Errors:
// mismatch.
[[nodiscard]] Result<Graph> replay_file(Graph graph, const CertificateFile& file);

}  // namespace viridian::rewrite
