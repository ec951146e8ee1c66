/* Viridian's C interface: what Rust, Go, C#, Julia and plug-ins bind. Tensors are DLPack's
 * DLManagedTensorVersioned (include your own dlpack.h of DLPack 1.0 or newer to look inside one). Functions
 * that can fail return 0 for success; after any other value vd_error_message() and vd_error_next_step() say
 * what went wrong on this thread. Pointers may be null only where the comment says so; `options` always may,
 * and so may what vd_model_close and vd_tensor_release are given. Nothing here prints, exits or pins a
 * thread. */
#ifndef VIRIDIAN_H
#define VIRIDIAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensorVersioned;

typedef struct vd_model vd_model;
typedef struct vd_window vd_window;

/* Fill it with zeroes, then set `size` and what shall differ from the default. */
typedef struct vd_options {
    size_t size;               /* sizeof(vd_options), so that later versions may add to its end */
    int threads;               /* 0: the plan's, else VIRIDIAN_THREADS, else one per core */
    int bf16;                  /* 1: kernels may round to bf16 */
    int64_t batch;             /* binds the inputs' first dimension; 0: as the model says */
    const char* objective;     /* vd_optimize: "time", "energy", ...; null: "time" */
    const char* budget;        /* vd_optimize: graphs and time, "1000,60s"; null: the default */
    const char* cost_database; /* file that keeps measured prices; null: they are forgotten */
    const char* memory;        /* memory that a run may need, "4GiB"; null: three quarters of what is free */
} vd_options;

/* The energy of a window of `seconds`, from `low` to `high`: of an estimate a factor of 2 by convention. */
typedef struct vd_energy {
    double joules, low, high;
    double seconds;
    char provenance[64]; /* "measured:powercap", "estimated:cpu-linear" */
} vd_energy;

/* One input or output of a model: DLPack's code and bits of its element type, and its shape. All extents are
 * known: vd_model_open fails if a dimension is left open. */
typedef struct vd_port {
    const char* name;
    uint8_t type_code, type_bits;
    int32_t rank;
    const int64_t* shape;
} vd_port;

/* Returns the version of the library, "0.1.0". */
const char* vd_version(void);

/* Opens an .onnx file, or the .plan.json that vd_optimize wrote beside one. */
int vd_model_open(const char* file, const vd_options* options, vd_model** model);
void vd_model_close(vd_model* model);
size_t vd_model_input_count(const vd_model* model);
size_t vd_model_output_count(const vd_model* model);
/* Describes one input or output; pointers in it live as long as the model. All fields are zero if `index` is
 * too large. */
vd_port vd_model_input(const vd_model* model, size_t index);
vd_port vd_model_output(const vd_model* model, size_t index);

/* Runs the model; may be called from many threads at once. `inputs` holds one dense row-major tensor in CPU
 * memory per input, which stays the caller's. `outputs` is an array of vd_model_output_count entries; it
 * receives one tensor per output, which the caller releases. If the call fails it stays as it was. */
int vd_model_run(const vd_model* model, struct DLManagedTensorVersioned* const* inputs,
                 struct DLManagedTensorVersioned** outputs);

/* Makes a float32 tensor over the caller's memory, which must outlive it. Returns null if it fails. */
struct DLManagedTensorVersioned* vd_tensor_borrow(float* data, int32_t rank, const int64_t* shape);
/* Returns the address of the first element. */
void* vd_tensor_data(const struct DLManagedTensorVersioned* tensor);
/* Frees a tensor that vd_model_run or vd_tensor_borrow returned; borrowed memory stays the caller's. */
void vd_tensor_release(struct DLManagedTensorVersioned* tensor);

/* Optimises the model `file` and writes the result to `output` (.onnx), with its plan, page and certificate
 * beside it. */
int vd_optimize(const char* file, const char* output, const vd_options* options);

/* Meters this machine from vd_measure_begin to vd_measure_end, which may be called on different threads.
 * `meter` names one meter; null: one of each kind of device that has one, added up. vd_measure_end frees the
 * window even if it fails. */
int vd_measure_begin(const char* meter, vd_window** window);
int vd_measure_end(vd_window* window, vd_energy* energy);

/* What the last failed call on this thread said, and what to do next; empty if none failed. The texts live
 * until the next call on this thread that fails. */
const char* vd_error_message(void);
const char* vd_error_next_step(void);

#ifdef __cplusplus
}
#endif

#endif
