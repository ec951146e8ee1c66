#pragma once
// Where prices come from: this machine, kept in a database so that a broken-off run goes on where it was; or
// a file, where nothing is timed and nothing can run.
#include "viridian/optimize/planned.hpp"
#include "viridian/session/open.hpp"

namespace viridian::eago {

struct Laboratory {
    std::string hardware;  // one line for the reader
    std::string prices;    // and where its prices are from
    std::string joules;    // provenance: "estimated:cpu-linear"
    cost::PriceSource source;
    // Only where plans can run:
    std::unique_ptr<execute::Device> device;
    std::unique_ptr<cost::Database> database;
    std::unique_ptr<profile::EnergyPricer> energy;
    std::unique_ptr<profile::OnDemand> costs;

    [[nodiscard]] bool runs() const { return device != nullptr; }
    // Prices asked for from now on are for kernels of this network.
    void price_for(const graph::Graph& network) {
        if (costs) costs->price_for(network);
    }
};

[[nodiscard]] Result<Laboratory> open_recorded(const std::string& file);
[[nodiscard]] Result<Laboratory> open_measured(const session::ModelOptions& options);

// What each plan really took, all of them interleaved in one run. Plans that cannot run stay as they are.
struct Actual {
    Summary seconds;
    Energy energy;
};
[[nodiscard]] Result<std::vector<Actual>> run_all(Laboratory& laboratory,
                                                  std::vector<optimize::PlannedModel*> plans);

}  // namespace viridian::eago
