#include "viridian/rewrite/certificate.hpp"

#include <gtest/gtest.h>

namespace viridian::rewrite {
namespace {

TEST(Certificate, SurvivesItsFile) {
    const Certificate written = {{.rule = "fold_scale",
                                  .at = NodeId{7},
                                  .node = "scale",
                                  .removed = {"conv", "scale"},
                                  .before = 0xffffffffffffffffU,
                                  .after = 1}};
    const auto json = parse_json(to_json(written).dump(), "certificate");
    ASSERT_TRUE(json.ok());
    const auto read = certificate_of(*json);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(to_json(*read), to_json(written));
    EXPECT_EQ((*read)[0].before, written[0].before);
}

TEST(Certificate, RefusesWhatIsNotOne) {
    const Json good =
        to_json({{.rule = "r", .at = NodeId{0}, .node = "n", .removed = {}, .before = 1, .after = 2}});
    EXPECT_FALSE(certificate_of(Json::array()).ok());
    EXPECT_FALSE(certificate_of({{"schema", "viridian.certificate/1"}}).ok());
    for (const char* key : {"rule", "at", "node", "removed", "before", "after"}) {
        Json bad = good;
        bad["applications"][0].erase(key);
        EXPECT_FALSE(certificate_of(bad).ok()) << key;
        bad["applications"][0][key] = -1.5;
        EXPECT_FALSE(certificate_of(bad).ok()) << key;
    }
}

}  // namespace
}  // namespace viridian::rewrite
