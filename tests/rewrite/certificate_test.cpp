#include "viridian/rewrite/certificate.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

namespace viridian::rewrite {
namespace {

TEST(Certificate, SurvivesItsFile) {
    const CertificateFile written = {{{.rule = "fold_scale",
                                       .at = NodeId{7},
                                       .node = "scale",
                                       .removed = {"conv", "scale"},
                                       .before = 0xffffffffffffffffU,
                                       .after = 1}},
                                     5};
    const auto json = parse_json(to_json(written).dump(), "certificate");
    ASSERT_TRUE(json.ok());
    const auto read = certificate_of(*json);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(to_json(*read), to_json(written));
    EXPECT_EQ(read->applications[0].before, written.applications[0].before);
    EXPECT_EQ(read->final_hash, 5U);
}

TEST(Certificate, RefusesWhatIsNotOne) {
    const Json good =
        to_json({{{.rule = "r", .at = NodeId{0}, .node = "n", .removed = {}, .before = 1, .after = 2}}, 2});
    EXPECT_FALSE(certificate_of(Json::array()).ok());
    EXPECT_FALSE(certificate_of({{"schema", "viridian.certificate/2"}}).ok());
    for (const char* key : {"rule", "at", "node", "removed", "before", "after"}) {
        Json bad = good;
        bad["applications"][0].erase(key);
        EXPECT_FALSE(certificate_of(bad).ok()) << key;
        bad["applications"][0][key] = -1.5;
        EXPECT_FALSE(certificate_of(bad).ok()) << key;
    }
    for (const char* key : {"schema", "count", "final", "applications"}) {
        Json bad = good;
        bad.erase(key);
        EXPECT_FALSE(certificate_of(bad).ok()) << key;
    }
    for (const char* place : {"/note", "/applications/0/equation"}) {
        Json bad = good;
        bad[Json::json_pointer(place)] = "x";
        EXPECT_FALSE(certificate_of(bad).ok()) << place;
    }
    Json cut = good;
    cut["applications"].clear();
    EXPECT_FALSE(certificate_of(cut).ok());
}

}  // namespace
}  // namespace viridian::rewrite
