// Optimising models through the public interface.
#include "viridian/optimize/optimize.hpp"

#include "viridian/api/state.hpp"
#include "viridian/base/json.hpp"
#include "viridian/execute/cpu/device.hpp"
#include "viridian/optimize/files/optimize_files.hpp"
#include "viridian/report/page.hpp"
#include "viridian/search/assign/solvers.hpp"

namespace viridian::api {
namespace {

// Passes on what the rooms say to a public listener.
class Relay final : public Listener {
  public:
    explicit Relay(v1::Listener* to) : to_(to) {}
    void progress(const std::string& what) override {
        if (to_ != nullptr) to_->progress(what);
    }
    void note(const std::string& text) override {
        if (to_ != nullptr) to_->note(text);
    }
    void warning(const std::string& text) override {
        if (to_ != nullptr) to_->warning(text);
    }
    bool cancelled() override { return to_ != nullptr && to_->cancelled(); }

  private:
    v1::Listener* to_;
};

Result<optimize::OptimizeOptions> parse(const v1::OptimizeOptions& options) {
    optimize::OptimizeOptions parsed;
    VIRIDIAN_TRY(parsed.objective, search::parse_objective(options.objective));
    VIRIDIAN_TRY(parsed.budget, optimize::parse_budget(options.budget));
    VIRIDIAN_TRY(parsed.assign.solver->can(parsed.objective));
    parsed.without = options.without;
    parsed.max_error = options.max_error;
    parsed.bf16 = options.bf16;
    parsed.exact_arithmetic = options.exact_arithmetic;
    parsed.keep_original = options.keep_original;
    return parsed;
}

Result<void> write(const optimize::Optimized& result, const std::string& file) {
    VIRIDIAN_TRY(const auto files, optimize::OptimizeFiles::make(file, "", result.uses_bf16(), {}));
    Json json = result.to_json();
    json["files"] = files.json(result);
    VIRIDIAN_TRY(const std::string page, report::page(json));
    return files.write(result, page);
}

}  // namespace

session::ModelOptions model_options(const std::string& file, const v1::OpenOptions& options) {
    session::ModelOptions model;
    model.model = file;
    model.dimensions = options.dimensions;
    model.batch = options.batch;
    model.threads = options.threads;
    model.pin = options.pin;
    model.database = options.cost_database;
    model.meter = options.meter;
    if (options.shared_idle_power) model.idle_power = "share";
    model.memory = options.memory;
    if (options.bf16) model.allow = {"bf16"};
    model.exact_arithmetic = options.exact_arithmetic;
    if (options.as_f32) model.as = "f32";
    return model;
}

}  // namespace viridian::api

namespace viridian::v1 {

Result<Optimized> optimize(const std::string& file, const OptimizeOptions& options, Listener* listener) {
    return api::answer([&]() -> viridian::Result<Optimized> {
        const session::ModelOptions model = api::model_options(file, options);
        api::Relay relay(listener);
        VIRIDIAN_TRY(viridian::optimize::OptimizeOptions parsed, api::parse(options));
        VIRIDIAN_TRY(const graph::Graph original, session::load_model(model, &relay));
        const execute::PinnedCaller pinned(model.pin);
        VIRIDIAN_TRY(auto device, session::open_device(model));
        VIRIDIAN_TRY(cost::Database database, session::open_database(model));
        parsed.reference = session::reference_cache(model);
        const auto state = std::make_shared<Optimized::State>(
            Optimized::State{std::move(device), std::move(database), {}, {}});
        VIRIDIAN_TRY(state->costs,
                     viridian::optimize::MeasuredCosts::open(
                         *state->device, state->database, session::energy_options(model),
                         session::allowances_text(model), viridian::optimize::tries_fewer_threads(parsed)));
        VIRIDIAN_TRY(state->result, viridian::optimize::optimize(original, *state->costs, state->device.get(),
                                                                 parsed, relay));
        state->result.model = Path(file).filename().string();
        return Optimized(state);
    });
}

double Optimized::seconds_before() const { return state_->result.baseline.measured->seconds.median; }
double Optimized::seconds_after() const { return state_->result.optimized.measured->seconds.median; }
Energy Optimized::energy_before() const { return api::to_public(state_->result.baseline.measured->energy); }
Energy Optimized::energy_after() const { return api::to_public(state_->result.optimized.measured->energy); }
bool Optimized::kept_original() const { return state_->result.kept_original.has_value(); }
std::string Optimized::text() const { return viridian::optimize::text(state_->result); }
std::string Optimized::json() const { return json_dump(state_->result.to_json(), 2); }

Result<Done> Optimized::save(const std::string& file) const {
    return api::answer([&]() -> viridian::Result<Done> {
        VIRIDIAN_TRY(api::write(state_->result, file));
        return Done{};
    });
}

Model Optimized::model() const {
    return Model(Model::State::of(state_, *state_->device, state_->result.optimized.planned));
}

}  // namespace viridian::v1
