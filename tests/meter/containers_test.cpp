#include <gtest/gtest.h>

#include <algorithm>

#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/containers/container_energy.hpp"

namespace viridian::meter {
namespace {

const std::string a(64, 'a'),
    b(64, 'b'), c = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string pod = "2f4c1d7e-90ab-4cde-8f01-23456789abcd",
                  pod_of_systemd = "2f4c1d7e_90ab_4cde_8f01_23456789abcd";

TEST(Containers, AreFoundByTheNamesOfTheirControlGroups) {
    const auto of = [](const std::string& path) {
        const auto container = container_of(path);
        return container ? container->id.substr(0, 2) + " " + container->pod : std::string("none");
    };
    EXPECT_EQ(of("system.slice/docker-" + a + ".scope"), "aa ");
    EXPECT_EQ(of("docker/" + c), "01 ");
    EXPECT_EQ(of("machine.slice/libpod-" + a + ".scope"), "aa ");
    EXPECT_EQ(of("user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + a + ".scope"), "aa ");
    EXPECT_EQ(of("kubepods/burstable/pod" + pod + "/" + b), "bb " + pod);
    EXPECT_EQ(of("kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + pod_of_systemd +
                 ".slice/cri-containerd-" + b + ".scope"),
              "bb " + pod);
    EXPECT_EQ(of("kubepods.slice/kubepods-pod" + pod_of_systemd + ".slice/crio-" + b + ".scope"),
              "bb " + pod);
    EXPECT_EQ(of("kubepods/podabcdef0123456789abcdef0123456789/" + b), "bb abcdef0123456789abcdef0123456789");
    for (const std::string& other :
         {std::string(), std::string("system.slice/ssh.service"), "crio-conmon-" + a + ".scope",
          "machine.slice/libpod-conmon-" + a + ".scope", a.substr(1), a + "0", std::string(64, 'g'),
          std::string(64, 'A'), "docker/" + a + "/init", "docker-" + a + ".slice"})
        EXPECT_EQ(of(other), "none") << other;
}

TEST(Containers, AreReadFromBothVersionsOfControlGroups) {
    const tests::FakeTree unified;
    EXPECT_FALSE(Cgroups::open(unified.root()).ok());
    const std::string top = "sys/fs/cgroup/";
    unified.write(top + "cgroup.controllers", "cpu io memory\n");
    unified.write(top + "cpu.stat", "usage_usec 99\n");
    unified.write(top + "system.slice/docker-" + a + ".scope/cpu.stat",
                  "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n");
    unified.write(top + "system.slice/docker-" + a + ".scope/docker/" + b + "/cpu.stat", "usage_usec 1\n");
    unified.write(top + "kubepods/burstable/pod" + pod + "/" + c + "/cpu.stat", "usage_usec 250000\n");
    unified.write(top + "system.slice/docker-" + b + ".scope/cgroup.procs", "");  // it is ending
    unified.write(top + "system.slice/ssh.service/cpu.stat", "usage_usec 7\n");
    const auto cgroups = Cgroups::open(unified.root());
    ASSERT_TRUE(cgroups.ok());
    auto found = cgroups->read();
    std::sort(found.begin(), found.end(), [](auto& x, auto& y) { return x.container.id < y.container.id; });
    ASSERT_EQ(found.size(), 2U);  // the one inside another belongs to that
    EXPECT_EQ(found[0].container, (Container{c, pod}));
    EXPECT_DOUBLE_EQ(found[0].cpu.value, 0.25);
    EXPECT_EQ(found[1].container, (Container{a, ""}));
    EXPECT_DOUBLE_EQ(found[1].cpu.value, 1.5);

    const tests::FakeTree first;
    first.write(top + "cpu,cpuacct/cpuacct.usage", "5\n");
    first.write(top + "cpu,cpuacct/docker/" + a + "/cpuacct.usage", "2500000000\n");
    first.write(top + "memory/docker/" + a + "/memory.usage_in_bytes", "1\n");
    const auto old = Cgroups::open(first.root());
    ASSERT_TRUE(old.ok());
    ASSERT_EQ(old->read().size(), 1U);
    EXPECT_DOUBLE_EQ(old->read()[0].cpu.value, 2.5);
}

MachineTime machine(double joules, double busy, double idle,
                    Provenance provenance = {Provenance::Kind::measured, "powercap"}) {
    return {{Joules(joules), Joules(joules), Joules(joules), std::move(provenance)},
            Seconds(busy),
            Seconds(idle)};
}

std::vector<ContainerTime> times(std::initializer_list<std::pair<std::string, double>> all) {
    std::vector<ContainerTime> made;
    for (const auto& [id, seconds] : all) made.push_back({{id, ""}, Seconds(seconds)});
    return made;
}

TEST(Containers, GetThePartOfTheEnergyThatTheirTimeIsOfTheBusyTime) {
    ContainerEnergy energy;
    energy.take(0, machine(1000, 50, 50), times({{a, 40.0}}));
    ASSERT_EQ(energy.shares().size(), 1U);
    EXPECT_EQ(energy.shares()[0].energy.value.value, 0.0);  // what was before the beginning is left out
    // 100 J, 4 s busy of 8 s; a used 1 s of it, b came and used 2 s.
    energy.take(1, machine(1100, 54, 54), times({{a, 41.0}, {b, 2.0}}));
    auto shares = energy.shares();
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_DOUBLE_EQ(shares[0].energy.value.value, 25.0);
    EXPECT_DOUBLE_EQ(shares[0].energy.low.value, 100.0 / 8 / 2);  // of all CPU time, and a factor of two
    EXPECT_DOUBLE_EQ(shares[0].energy.high.value, 50.0);
    EXPECT_EQ(shares[0].energy.provenance.text(), "estimated:cpu-share of powercap");
    EXPECT_DOUBLE_EQ(shares[1].energy.value.value, 50.0);
    EXPECT_DOUBLE_EQ(shares[1].cpu.value, 2.0);
    // Another interval is divided by its own times; b is idle.
    energy.take(2, machine(1110, 55, 54), times({{a, 41.5}, {b, 2.0}}));
    shares = energy.shares();
    EXPECT_DOUBLE_EQ(shares[0].energy.value.value, 30.0);
    EXPECT_DOUBLE_EQ(shares[1].energy.value.value, 50.0);
}

TEST(Containers, NeverGetMoreThanThereIs) {
    ContainerEnergy energy;
    energy.take(0, machine(0, 0, 0), times({{a, 0.0}, {b, 0.0}}));
    // /proc/stat counts whole jiffies and saw nothing: the two share what there is.
    energy.take(1, machine(10, 0, 2), times({{a, 0.003}, {b, 0.001}}));
    EXPECT_DOUBLE_EQ(energy.shares()[0].energy.value.value, 7.5);
    EXPECT_DOUBLE_EQ(energy.shares()[1].energy.value.value, 2.5);
    // Nobody did anything, then the counters went back: a was started again, the meter was reset.
    energy.take(2, machine(20, 0, 4), times({{a, 0.003}, {b, 0.001}}));
    energy.take(3, machine(5, 1, 5), times({{a, 0.002}, {b, 0.001}}));
    EXPECT_DOUBLE_EQ(energy.shares()[0].energy.value.value, 7.5);
    EXPECT_DOUBLE_EQ(energy.shares()[0].cpu.value, 0.005);
    EXPECT_DOUBLE_EQ(energy.shares()[1].energy.value.value, 2.5);
}

TEST(Containers, AnEstimateOfAnEstimateIsWider) {
    ContainerEnergy energy;
    const Provenance model{Provenance::Kind::estimated, "model-cpu-linear"};
    energy.take(0, machine(0, 0, 0, model), {});
    energy.take(1, machine(8, 1, 0, model), times({{a, 0.5}}));
    const Energy share = energy.shares()[0].energy;
    EXPECT_DOUBLE_EQ(share.value.value, 4.0);
    EXPECT_DOUBLE_EQ(share.low.value, 1.0);
    EXPECT_DOUBLE_EQ(share.high.value, 16.0);
}

TEST(Containers, AreForgottenFiveMinutesAfterTheirEnd) {
    ContainerEnergy energy;
    constexpr std::int64_t second = 1'000'000'000;
    energy.take(0, machine(0, 0, 0), times({{a, 0.0}, {b, 0.0}}));
    energy.take(second, machine(2, 1, 1), times({{a, 0.5}, {b, 0.5}}));
    energy.take(300 * second, machine(3, 2, 2), times({{b, 1.0}}));
    EXPECT_EQ(energy.shares().size(), 2U);
    energy.take(302 * second, machine(3, 2, 2), times({{b, 1.0}}));
    ASSERT_EQ(energy.shares().size(), 1U);
    EXPECT_EQ(energy.shares()[0].container.id, b);
}

}  // namespace
}  // namespace viridian::meter
