#include "viridian/optimize/files/optimize_files.hpp"

#include "viridian/base/json.hpp"

#include <unistd.h>

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
        Path folder =
            target.parent_path() / fmt::format(".{}.{}.partial", target.stem().string(), ::getpid());
        std::error_code fault;
        fs::create_directory(folder, fault);
        if (fault) return write_error(target, fault.value());
        return Staging(std::move(folder));
    }
    Staging(Staging&& other) noexcept : folder_(std::exchange(other.folder_, Path())) {}
    Staging& operator=(Staging&&) = delete;
    ~Staging() {
        std::error_code ignored;
        if (!folder_.empty()) fs::remove_all(folder_, ignored);
    }
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
    if (!fault && to.place()) return {};
    const int number = fault ? fault.value() : errno;
    to.abandon();
    return write_error(to.path, number);
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
    for (std::size_t i = 0; i < writes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (same_file(writes[i], writes[j]))
                return fail(ErrorCode::invalid_argument, "choose another name for one of them",
                            "`{}` and `{}` are the same file, and both would be written", writes[j].string(),
                            writes[i].string());
    for (const Path& path : writes) VIRIDIAN_TRY(check_writable(path));
    return files;
}

Json OptimizeFiles::json(const Optimized& result) const {
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

Result<void> OptimizeFiles::write(const Optimized& result, const std::string& page) const {
    const graph::Graph& model = result.optimized.planned.graph;
    const plan::Plan& plan = result.optimized.planned.plan;
    const OptimizeOptions& options = result.options;
    VIRIDIAN_TRY(const Staging staging, Staging::make(model_));
    if (result.uses_bf16()) {
        VIRIDIAN_TRY(const graph::Graph bf16, plan::with_casts(model, plan.assignment));
        VIRIDIAN_TRY(const graph::Graph weights, plan::with_weights_cast(model, plan.assignment));
        VIRIDIAN_TRY(onnx::save(bf16, staging.at(bf16_)));
        VIRIDIAN_TRY(onnx::save(weights, staging.at(bf16_weights_)));
    }
    VIRIDIAN_TRY(onnx::save(model, staging.at(model_)));
    const Request request{search::text(options.objective), options.bf16 || result.uses_bf16(),
                          options.max_error};
    const Json sidecar = sidecar_json(model, plan, request);
    VIRIDIAN_TRY(check_readable(staging.at(model_), sidecar));
    VIRIDIAN_TRY(write_file(staging.at(plan_), json_dump(sidecar, 1) + "\n"));
    VIRIDIAN_TRY(write_file(staging.at(page_), page));
    const Json certificate = rewrite::to_json({result.certificate, result.certified_hash});
    VIRIDIAN_TRY(write_file(staging.at(certificate_), json_dump(certificate, 1) + "\n"));
    std::vector<Path> written;
    for (const Path& target : {data_of(bf16_), bf16_, data_of(bf16_weights_), bf16_weights_, data_of(model_),
                               model_, plan_, page_, certificate_}) {
        std::error_code unknown;
        if (fs::exists(staging.at(target), unknown)) written.push_back(target);
    }
    for (const Path& target : written) VIRIDIAN_TRY(check_writable(target));
    if (result.recording && !record_.empty()) VIRIDIAN_TRY(write_file(record_, result.recording->to_text()));
    for (const Path& target : written) VIRIDIAN_TRY(place(staging.at(target), target));
    return {};
}

}  // namespace viridian::optimize
