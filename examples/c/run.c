/* Runs a model on zeroes through the C interface and prints the first output's first value.
 *     cc run.c $(pkg-config --cflags --libs viridian) -o run && ./run model.onnx 1 3 224 224 */
#include <stdio.h>
#include <stdlib.h>
#include <viridian/viridian.h>

int main(int count, char** arguments) {
    int64_t shape[8], elements = 1;
    const int rank = count - 2 < 8 ? count - 2 : 8;
    for (int axis = 0; axis < rank; ++axis) elements *= shape[axis] = atoll(arguments[axis + 2]);
    vd_model* model = NULL;
    if (count < 3) return fprintf(stderr, "usage: run MODEL.onnx EXTENT...\n"), 1;
    if (vd_model_open(arguments[1], NULL, &model) != 0)
        return fprintf(stderr, "%s. %s.\n", vd_error_message(), vd_error_next_step()), 1;
    float* data = calloc((size_t)elements, sizeof(float));
    struct DLManagedTensorVersioned* input = vd_tensor_borrow(data, rank, shape);
    struct DLManagedTensorVersioned* output = NULL;
    if (vd_model_run(model, &input, &output) != 0)
        return fprintf(stderr, "%s. %s.\n", vd_error_message(), vd_error_next_step()), 1;
    printf("%s: %g\n", vd_model_output(model, 0).name, ((float*)vd_tensor_data(output))[0]);
    vd_tensor_release(output);
    vd_tensor_release(input);
    vd_model_close(model);
    free(data);
    return 0;
}
