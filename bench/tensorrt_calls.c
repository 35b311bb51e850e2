/* bench/tensorrt_calls.c: the overhead of an inference by TensorRT's library, without the library's own time.
 *
 *   tensorrt_calls MODEL ELEMENTS RUNS
 *
 * Builds MODEL, whose only input is float32 of ELEMENTS elements, and runs the engine RUNS times. Prints the median of
 * the seconds in which input and outputs pass to the worker process and back, without those that the library takes, and
 * the number of worker processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/tensorrt/backend.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/build/timing.h"

static _Noreturn void fail(const struct error *err)
{
    fprintf(stderr, "tensorrt_calls: %s\n", err->message);
    exit(1);
}

static void make_feed(const struct backend_session *session, size_t elements, struct tensor_list *ret)
{
    struct shape shape = session->inputs[0].shape;
    struct tensor tensor;
    struct error err;

    if (session->input_count != 1 || shape_elements(&shape) != elements)
        error_set(&err, ERR_INVALID, "the model has not one input of %zu elements", elements);
    else if (tensor_allocate(DATA_FLOAT32, &shape, &tensor, &err) == 0) {
        for (size_t i = 0; i < elements; i++)
            ((float *)tensor_writable(&tensor))[i] = (float)i;
        tensor_list_add(ret, text_of(session->inputs[0].name), &tensor);
        return;
    }
    fail(&err);
}

/* The process that works for this one; 0: none, or this system does not tell. */
static long find_worker(void)
{
    char path[64];
    FILE *file;
    long ret = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%ld", &ret) != 1)
        ret = 0;
    if (file != NULL)
        fclose(file);
    return ret;
}

static double run_once(struct backend_session *session, const struct tensor_list *feed)
{
    struct tensor_list outputs = {0};
    double begin = stopwatch_now(), seconds = 0;
    struct error err;

    if (tensorrt_backend.run(session, feed, NULL, &outputs, &seconds, &err) < 0)
        fail(&err);
    seconds = stopwatch_now() - begin - seconds;
    tensor_list_release(&outputs);
    return seconds;
}

int main(int argc, char **argv)
{
    struct tensorrt_request wish = {.wants_layers = false};
    struct backend_request request = {.settings = &wish};
    size_t runs = argc == 4 ? strtoul(argv[3], NULL, 10) : 0, workers = 0;
    double *seconds = memory_alloc_zero(runs + 1, sizeof(*seconds));
    struct backend_session *session = NULL;
    struct tensor_list feed = {0};
    long worker = 0;
    struct error err;

    if (runs == 0) {
        fprintf(stderr, "usage: tensorrt_calls MODEL ELEMENTS RUNS\n");
        return 2;
    }
    request.model.path = argv[1];
    if (tensorrt_backend.open(&request, &session, &err) < 0)
        fail(&err);
    make_feed(session, strtoul(argv[2], NULL, 10), &feed);
    for (size_t i = 0; i < runs; i++) {
        long now;

        seconds[i] = run_once(session, &feed);
        now = find_worker();
        workers += now != worker;
        worker = now;
    }
    printf("%.7f %zu\n", median_of_seconds(seconds, runs), workers);
    tensor_list_release(&feed);
    tensorrt_backend.close(session);
    free(seconds);
    return 0;
}
