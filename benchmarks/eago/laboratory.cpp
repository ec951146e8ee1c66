#include "laboratory.hpp"

#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/cost/recorded.hpp"
#include "viridian/profile/measure_runs.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::eago {

Result<Laboratory> open_recorded(const std::string& file) {
    VIRIDIAN_TRY(const std::string text, read_file(file));
    VIRIDIAN_TRY(const Json json, parse_json(text, file));
    VIRIDIAN_TRY(cost::Recorded recorded, cost::recorded_from_json(json));
    Laboratory laboratory;
    laboratory.hardware = "none: " + recorded.device + ", a processor that does not exist";
    laboratory.prices =
        fmt::format("from `{}` ({}); nothing was timed and nothing was run", file, recorded.schema);
    laboratory.joules = recorded.provenance;
    laboratory.source = std::move(recorded.source);
    return laboratory;
}

Result<Laboratory> open_measured(const session::ModelOptions& options) {
    Laboratory laboratory;
    VIRIDIAN_TRY(laboratory.device, session::open_device(options));
    VIRIDIAN_TRY(auto database, session::open_database(options));
    laboratory.database = std::make_unique<cost::Database>(std::move(database));
    VIRIDIAN_TRY(auto energy,
                 profile::EnergyPricer::open(session::energy_options(options), *laboratory.device));
    laboratory.energy = std::make_unique<profile::EnergyPricer>(std::move(energy));
    laboratory.costs =
        std::make_unique<profile::OnDemand>(*laboratory.device, *laboratory.database, *laboratory.energy);
    laboratory.source = laboratory.costs->source();
    const Machine machine = this_machine();
    laboratory.hardware =
        fmt::format("{}, {} threads, {}{}", machine.cpu_model, laboratory.device->threads(),
                    laboratory.device->library(), machine.virtual_machine ? ", a virtual machine" : "");
    laboratory.prices = fmt::format("measured here and kept in `{}`", options.database);
    const cost::EnergyModel& model = laboratory.energy->model;
    laboratory.joules =
        laboratory.energy->meter
            ? "measured:" + laboratory.energy->name()
            : fmt::format("estimated:{} (no meter here), {:.3g} W a core and {:.3g} nJ a byte of DRAM",
                          cost::energy_model_name, (model.static_per_core + model.busy_per_core[0]).value,
                          1e9 * model.per_dram_byte.value);
    return laboratory;
}

Result<std::vector<Actual>> run_all(Laboratory& laboratory, std::vector<optimize::PlannedModel*> plans) {
    std::vector<profile::Subject> subjects;
    for (optimize::PlannedModel* planned : plans) {
        planned->plan.device = laboratory.device->fingerprint();
        planned->plan.library = laboratory.device->library();
        planned->plan.threads = laboratory.device->threads();
        VIRIDIAN_TRY(planned->executable, laboratory.device->prepare(planned->graph, planned->plan));
        VIRIDIAN_TRY(auto inputs, prove::seeded_inputs(planned->graph, 1));
        VIRIDIAN_TRY(auto outputs, execute::output_tensors(planned->graph));
        subjects.push_back({planned->executable.get(), std::move(inputs), std::move(outputs)});
    }
    VIRIDIAN_TRY(const auto summaries, profile::measure_runs(subjects, {.rounds = 11}));
    std::vector<Actual> all;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        optimize::Measurement measured;
        measured.seconds = summaries[i];
        VIRIDIAN_TRY(optimize::set_energy(measured, *plans[i], *laboratory.energy, subjects[i].inputs));
        all.push_back({summaries[i], measured.energy});
        plans[i]->executable.reset();
    }
    return all;
}

}  // namespace viridian::eago
