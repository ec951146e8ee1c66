#pragma once
// Viridian's public C++ interface: open a model, optimise it, run it, measure, account and plan a pipeline.
// It is the only header that keeps its promises between versions, and it includes nothing but the standard
// library. Errors are values: every function that can fail returns a Result. Nothing here prints, exits,
// pins a thread that it was not asked to pin, or leaves a global setting changed. Two environment variables
// are read, for the default number of threads: VIRIDIAN_THREADS and then OMP_NUM_THREADS.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace viridian::v1 {

// An Error says in one sentence what went wrong, and in another what to do now.
struct Error {
    std::string code;  // a word that does not change between versions: "file_not_found", "unsupported"
    std::string message;
    std::string next_step;
    [[nodiscard]] std::string text() const { return message + ". " + next_step + "."; }
};

// A value or an error. Reading the value of a failed result throws std::bad_optional_access.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(std::move(error)) {}
    [[nodiscard]] bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] T& operator*() & { return value_.value(); }
    [[nodiscard]] const T& operator*() const& { return value_.value(); }
    [[nodiscard]] T operator*() && { return std::move(value_).value(); }
    [[nodiscard]] T* operator->() { return &value_.value(); }
    [[nodiscard]] const T* operator->() const { return &value_.value(); }
    [[nodiscard]] const Error& error() const { return error_.value(); }

  private:
    std::optional<T> value_;
    std::optional<Error> error_;
};

struct Done {};  // Result<Done>: nothing but success or an error

// Types of elements, as ONNX has them.
enum class Element { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };
[[nodiscard]] std::size_t size_of(Element element);  // bytes

struct Port {
    std::string name;
    Element element = Element::f32;
    std::vector<std::int64_t> shape;
};

// A dense row-major tensor in host memory. Copies share the bytes.
class Tensor {
  public:
    Tensor() = default;  // without elements
    // A tensor of zeroes. Throws std::bad_alloc if there is no such memory.
    Tensor(Element element, std::vector<std::int64_t> shape);
    // `data` is read where it lies; the caller keeps it alive and unchanged while the tensor exists.
    [[nodiscard]] static Tensor view(const float* data, std::vector<std::int64_t> shape);
    [[nodiscard]] static Tensor view(Element element, const void* data, std::vector<std::int64_t> shape);

    [[nodiscard]] Element element() const { return element_; }
    [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
    [[nodiscard]] std::int64_t count() const;  // elements
    [[nodiscard]] const void* data() const { return data_.get(); }
    [[nodiscard]] void* mutable_data();  // null for a view
    // The elements as T, which has the element's size.
    template <class T>
    [[nodiscard]] std::span<const T> values() const {
        return {static_cast<const T*>(data()), static_cast<std::size_t>(count())};
    }

  private:
    friend class Model;
    friend class Binding;
    Element element_ = Element::f32;
    std::vector<std::int64_t> shape_;
    std::shared_ptr<const void> data_;
    bool owned_ = false;
};

// An energy in joules with its interval and its provenance: "measured:powercap", "estimated:cpu-linear" or
// "derived:overlap". The interval of an estimate is a factor of two by convention, without a probability.
struct Energy {
    double joules = 0, low = 0, high = 0;
    std::string provenance;
};

// Receives reports during long work, and may ask it to stop. `progress` names the current activity; `note`
// and `warning` are whole sentences. If `cancelled` returns true, a search returns the best that it has
// found, and other work ends with the error "cancelled".
class Listener {
  public:
    virtual ~Listener() = default;
    virtual void progress(const std::string& what) { static_cast<void>(what); }
    virtual void note(const std::string& text) { static_cast<void>(text); }
    virtual void warning(const std::string& text) { static_cast<void>(text); }
    [[nodiscard]] virtual bool cancelled() { return false; }
};

// The default number of threads is VIRIDIAN_THREADS, else OMP_NUM_THREADS, else one per physical core that
// the process may use, and no more than its control groups allow.
struct OpenOptions {
    int threads = 0;                           // 0: the plan's, else the default
    bool pin = false;                          // bind each worker thread to a core
    std::vector<std::string> dimensions = {};  // "N=8" binds the symbolic dimension N
    std::int64_t batch = 0;                    // binds the inputs' first dimension; 0: as the model says
    bool bf16 = false;                         // kernels may round to bf16
    bool exact_arithmetic = false;             // no kernel by minimal filtering (Winograd) or Strassen
    bool as_f32 = false;                       // what the model computes in f16, bf16 or quantised integers
                                               // is computed in f32, for which there are fast kernels
    std::string cost_database = {};            // file that keeps measured prices; "": they are forgotten
    std::string meter = {};                    // name of an energy meter; "": the best that works
    // Without a meter joules are estimated. A model answers then for the static power of the whole machine,
    // or, on a machine that others use too, for that of the cores that it keeps busy.
    bool shared_idle_power = false;
    std::string memory = {};  // memory that a run may need, "4GiB"; a model that needs more
                              // is refused; "": three quarters of what is free
};

// A model that is ready to run.
class Model {
  public:
    // Opens an .onnx file, or the .plan.json that `optimize` wrote beside one: only the plan has the tuned
    // kernels.
    [[nodiscard]] static Result<Model> open(const std::string& file, const OpenOptions& options = {});

    [[nodiscard]] const std::vector<Port>& inputs() const;
    [[nodiscard]] const std::vector<Port>& outputs() const;
    [[nodiscard]] int threads() const;
    // One tensor per input, in the order of inputs(); gives one per output. May be called from many threads
    // at once: they share the weights. The states of a training step go on from call to call, so that each
    // call is one step; such calls wait for each other.
    [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) const;

  private:
    friend class Optimized;
    friend class Binding;
    struct State;
    explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

// A Binding runs a model on the same memory again and again, without allocating any for a run.
class Binding {
  public:
    // One tensor per input, as Model::run takes them. Each run reads their memory anew, and it must live as
    // long as the binding. The binding keeps the model. Errors: mismatch if they are not what the model
    // takes.
    [[nodiscard]] static Result<Binding> of(const Model& model, std::span<const Tensor> inputs);
    // One tensor per output, in the order of Model::outputs(). Each run writes them anew.
    [[nodiscard]] const std::vector<Tensor>& outputs() const;
    // May be called by one thread at a time; other bindings of the model may run meanwhile. Errors: those of
    // Model::run.
    [[nodiscard]] Result<Done> run();

  private:
    struct State;
    explicit Binding(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

struct OptimizeOptions : OpenOptions {
    // time, energy, power, a mix such as 0.5*energy+0.5*time, or with a limit: energy @ time<=1.02x
    std::string objective = "time";
    std::string budget = "1000,60s";        // graphs and seconds of the search
    std::vector<std::string> without = {};  // rewrite rules that are not used
    std::optional<double> max_error = {};   // relative L2 error that outputs may have
    // If the runs show no gain by the objective, save() writes the model as it was given, and kept_original()
    // returns true.
    bool keep_original = false;
};

// The result of `optimize`: a plan whose outputs agree with the original's within the allowed error.
class Optimized {
  public:
    Optimized(Optimized&&) = default;
    Optimized& operator=(Optimized&&) = default;
    [[nodiscard]] double seconds_before() const;  // median of whole runs, both measured in turn
    [[nodiscard]] double seconds_after() const;
    [[nodiscard]] Energy energy_before() const;  // of one run
    [[nodiscard]] Energy energy_after() const;
    [[nodiscard]] bool kept_original() const;
    [[nodiscard]] std::string text() const;  // what the command line prints
    [[nodiscard]] std::string json() const;  // schema viridian.optimize/1
    // Writes the model to `file` (.onnx), and beside it its plan, page and certificate.
    [[nodiscard]] Result<Done> save(const std::string& file) const;
    // Returns the optimised plan, ready to run. It may outlive this object, and keeps its memory.
    [[nodiscard]] Model model() const;

  private:
    friend Result<Optimized> optimize(const std::string&, const OptimizeOptions&, Listener*);
    struct State;
    explicit Optimized(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};
// Finds a cheap plan for the model in `file` on this machine: measures what the cost database lacks, searches
// equal graphs for the one whose cheapest plan costs least at the measured prices, and compares the outputs
// with the original's. `listener` may be null. Errors: those of reading the model, options that are wrong,
// and outputs that do not agree with any plan.
[[nodiscard]] Result<Optimized> optimize(const std::string& file, const OptimizeOptions& options = {},
                                         Listener* listener = nullptr);

struct Measurement {
    Energy energy;
    double seconds = 0;
};
// Runs `work` and meters this machine meanwhile, by the meter called `meter`, or by one of each kind of
// device that has one, added up. Without a hardware meter the joules are estimated, and say so. `work` is not
// run if no meter can be opened.
[[nodiscard]] Result<Measurement> measure(const std::function<void()>& work, const std::string& meter = "");

// Joules per operation of a trace (any format that `viridian trace` reads) and a power log (docs/meter.md),
// as JSON of the schema viridian.account/2.
[[nodiscard]] Result<std::string> account(const std::string& trace, const std::string& power);

struct PipelineOptions {
    std::string schedule = "1f1b";  // a name that `viridian pipeline plan --help` lists
    std::string planner = "exact";  // likewise
    int micro_batches = 8;
    int chunks = 0;          // stages of a rank in interleaved schedules; 0: the schedule's own
    double slowdown = 0;     // percent that an iteration may take beyond the fastest
    double wait_power = -1;  // watts of a device that waits; negative: as the profile says
};
// Plans the clocks of pipeline-parallel training from a stage profile (CSV or JSON), as JSON of the schema
// viridian.pipeline-plan/1.
[[nodiscard]] Result<std::string> plan_pipeline(const std::string& profile,
                                                const PipelineOptions& options = {});

// Returns the version of the library, "0.1.0".
[[nodiscard]] std::string version();

}  // namespace viridian::v1
