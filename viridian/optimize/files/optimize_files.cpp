#include "viridian/optimize/files/optimize_files.hpp"

#include "viridian/base/json.hpp"

#include <cerrno>
#include <cstdlib>

#include "viridian/base/output_paths.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/optimize/files/sidecar.hpp"
#include "viridian/plan/with_casts.hpp"

namespace viridian::optimize {
namespace {

namespace fs = std::filesystem;

// A folder beside the model, gone with this object.
class Staging {
  public:
    static Result<Staging> make(const Path& model) {
        const Path target = resolved(model);
        std::string folder =
            (target.parent_path() / fmt::format(".{}.partial.XXXXXX", target.stem().string())).string();
        if (::mkdtemp(folder.data()) == nullptr) return write_error(target, errno);
        return Staging(Path(folder));
    }
    Staging(Staging&& other) noexcept : folder_(std::exchange(other.folder_, Path())) {}
    Staging& operator=(Staging&&) = delete;
    ~Staging() {
        std::error_code ignored;
        if (!folder_.empty()) fs::remove_all(folder_, ignored);
    }
    [[nodiscard]] const Path& folder() const { return folder_; }
    [[nodiscard]] Path at(const Path& target) const { return folder_ / target.filename(); }

  private:
    explicit Staging(Path folder) : folder_(std::move(folder)) {}
    Path folder_;
};

Result<void> place(const Path& staged, const Path& target) {
    const Destination to(target);
    if (std::rename(staged.c_str(), to.path.c_str()) == 0) return {};
    if (errno != EXDEV) return write_error(to.path, errno);
    std::error_code fault;  // a link led to another file system
    fs::copy_file(staged, to.beside, fs::copy_options::overwrite_existing, fault);
    if (!fault) return to.place();
    to.abandon();
    return write_error(to.path, fault.value());
}

// Whether the written model is the graph that its plan names.
Result<void> check_readable(const Path& model, const Json& sidecar) {
    VIRIDIAN_TRY(graph::Graph read, onnx::load(model));
    VIRIDIAN_TRY(graph::infer_types(read));
    const auto plan = plan::plan_from_json(read, sidecar);
    if (plan.ok()) return {};
    return fail(ErrorCode::broken_invariant, "please report it with the model",
                "the optimised model does not fit its own plan: {}", plan.error().message);
}

Path data_of(const Path& model) { return model.string() + ".data"; }

}  // namespace

Result<OptimizeFiles> OptimizeFiles::make(const std::string& output, const std::string& record, bool bf16,
                                          const std::vector<Path>& reads) {
    OptimizeFiles files;
    files.model_ = output;
    if (files.model_.extension() != ".onnx")
        return fail(ErrorCode::invalid_argument, "write `-o OUT.onnx`; the plan and the page go beside it",
                    "the output `{}` does not end in .onnx", output);
    const auto beside = [&](const char* extension) { return Path(output).replace_extension(extension); };
    files.plan_ = beside(".plan.json");
    files.page_ = beside(".html");
    files.certificate_ = beside(".certificate.json");
    files.bf16_ = beside(".bf16.onnx");
    files.bf16_weights_ = beside(".bf16-weights.onnx");
    files.record_ = record;
    std::vector<Path> writes = {files.model_, files.plan_, files.page_, files.certificate_};
    if (bf16) writes.insert(writes.end(), {files.bf16_, files.bf16_weights_});
    if (!record.empty()) writes.push_back(files.record_);
    VIRIDIAN_TRY(check_replaces_nothing(writes, reads));
    VIRIDIAN_TRY(check_all_different(writes));
    for (const Path& path : writes) VIRIDIAN_TRY(check_writable(path));
    return files;
}

Json OptimizeFiles::json(const Optimized& result) const {
    if (result.kept_original) return {{"model_file", model_.string()}, {"page_file", page_.string()}};
    Json files = {{"model_file", model_.string()},
                  {"plan_file", plan_.string()},
                  {"page_file", page_.string()},
                  {"certificate_file", certificate_.string()}};
    if (result.uses_bf16()) {
        files["bf16_file"] = bf16_.string();
        files["bf16_weights_file"] = bf16_weights_.string();
    }
    return files;
}

Result<void> OptimizeFiles::stage_plan(const Optimized& result, const Path& folder) const {
    const auto staged = [&](const Path& target) { return folder / target.filename(); };
    const graph::Graph& model = result.optimized.planned.graph;
    const plan::Plan& plan = result.optimized.planned.plan;
    const OptimizeOptions& options = result.options;
    if (result.uses_bf16()) {
        VIRIDIAN_TRY(const graph::Graph bf16, plan::with_casts(model, plan.assignment));
        VIRIDIAN_TRY(const graph::Graph weights, plan::with_weights_cast(model, plan.assignment));
        VIRIDIAN_TRY(onnx::save(bf16, staged(bf16_)));
        VIRIDIAN_TRY(onnx::save(weights, staged(bf16_weights_)));
    }
    VIRIDIAN_TRY(onnx::save(model, staged(model_)));
    const Request request{search::text(options.objective), options.bf16 || result.uses_bf16(),
                          options.max_error, options.exact_arithmetic};
    const Json sidecar = sidecar_json(model, plan, request);
    VIRIDIAN_TRY(check_readable(staged(model_), sidecar));
    VIRIDIAN_TRY(write_file(staged(plan_), json_dump(sidecar, 1) + "\n"));
    const Json certificate = rewrite::to_json({result.certificate, result.certified_hash});
    return write_file(staged(certificate_), json_dump(certificate, 1) + "\n");
}

Result<void> OptimizeFiles::write(const Optimized& result, const std::string& page) const {
    VIRIDIAN_TRY(const Staging staging, Staging::make(model_));
    VIRIDIAN_TRY(result.kept_original ? onnx::save(*result.kept_original, staging.at(model_))
                                      : stage_plan(result, staging.folder()));
    VIRIDIAN_TRY(write_file(staging.at(page_), page));
    std::vector<Path> written;
    for (const Path& target : {data_of(bf16_), bf16_, data_of(bf16_weights_), bf16_weights_, data_of(model_),
                               model_, plan_, page_, certificate_}) {
        std::error_code unknown;
        if (fs::exists(staging.at(target), unknown)) written.push_back(target);
    }
    for (const Path& target : written) VIRIDIAN_TRY(check_writable(target));
    if (result.recording && !record_.empty()) VIRIDIAN_TRY(write_file(record_, result.recording->to_text()));
    for (const Path& target : written) VIRIDIAN_TRY(place(staging.at(target), target));
    // A plan that an earlier call wrote beside the model is of another graph.
    std::error_code ignored;
    if (result.kept_original)
        for (const Path& stale : {plan_, certificate_}) fs::remove(stale, ignored);
    return {};
}

}  // namespace viridian::optimize
