/* A program with parallel regions of its own runs a model before, inside and after them. It counts its
 * threads before its first region: none but the caller and the workers of the library's. `program MODEL.onnx
 * THREADS` */
#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viridian/viridian.h>

static int64_t shape[4] = {1, 3, 224, 224};
static float image[3 * 224 * 224];
static vd_model* model;

static int fail(const char* what) {
    fprintf(stderr, "program: %s: %s. %s.\n", what, vd_error_message(), vd_error_next_step());
    exit(1);
}

/* Runs the model and copies its first 1000 numbers. */
static void run(float* scores) {
    struct DLManagedTensorVersioned* input = vd_tensor_borrow(image, 4, shape);
    struct DLManagedTensorVersioned* output = NULL;
    if (vd_model_run(model, &input, &output) != 0) fail("a run failed");
    memcpy(scores, vd_tensor_data(output), 1000 * sizeof(float));
    vd_tensor_release(output);
    vd_tensor_release(input);
}

static int threads_of_process(void) {
    int count = 0;
    DIR* folder = opendir("/proc/self/task");
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void check_region(int threads) {
    int numbers[8] = {0}, before_barrier = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
    {
        numbers[omp_get_thread_num()] += 1;
#pragma omp atomic
        before_barrier += 1;
#pragma omp barrier
        if (before_barrier != threads || omp_get_num_threads() != threads || !omp_in_parallel()) {
#pragma omp atomic
            wrong += 1;
        }
    }
    for (int i = 0; i < threads; ++i) wrong += numbers[i] != 1;
    if (wrong != 0) fail("a region of the program has not its threads");
}

int main(int count, char** arguments) {
    if (count != 3) return fprintf(stderr, "usage: program MODEL.onnx THREADS\n"), 1;
    vd_options options = {0};
    options.size = sizeof options;
    options.threads = atoi(arguments[2]);
    for (size_t i = 0; i < sizeof image / sizeof *image; ++i) image[i] = (float)(i % 255) / 255;
    if (vd_model_open(arguments[1], &options, &model) != 0) fail("the model does not open");
    static float first[1000], others[4][1000];
    run(first);
    if (threads_of_process() != options.threads) fail("another library started threads for the run");
    omp_set_num_threads(3);
    check_region(3);
    check_region(2);
    if (omp_get_max_threads() != 3 || omp_in_parallel()) fail("the program's settings changed");
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 4; ++i) run(others[i]);
        for (int i = 0; i < 4; ++i)
            if (memcmp(first, others[i], sizeof first) != 0) fail("a run inside a region has other outputs");
    }
    check_region(4);
    run(others[0]);
    if (memcmp(first, others[0], sizeof first) != 0) fail("a later run has other outputs");
    if (omp_get_max_threads() != 3) fail("the program's settings changed");
    vd_model_close(model);
    puts("right");
    return 0;
}
