/* support/onnxrt_fixture.c: see onnxrt_fixture.h. */
#include "support/onnxrt_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/library.h"

char models_folder[PATH_MAX - 256];

int find_models(void **state)
{
    char here[PATH_MAX - 512];

    if (!getcwd(here, sizeof(here)))
        return -1;
    snprintf(models_folder, sizeof(models_folder), "%s/tests/models", here);
    return 0;
}

const char *model_path(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s.onnx", models_folder, name);
    return path;
}

void check_small_models(void (*check)(const char *path))
{
    DIR *folder = opendir(models_folder);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[PATH_MAX];

        if (dot == NULL || strcmp(dot, ".onnx") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", models_folder, entry->d_name);
        check(path);
        count++;
    }
    closedir(folder);
    assert_true(count > 30);
}

size_t check_real_models(const char *const *names, size_t name_count, void (*check)(const char *path))
{
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    size_t count = 0;

    for (size_t i = 0; folder != NULL && i < name_count; i++) {
        char path[PATH_MAX];

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (access(path, R_OK) != 0)
            continue;
        check(path);
        count++;
    }
    return count;
}

struct backend_session *open_request(const struct backend_request *request)
{
    struct backend_session *session = NULL;
    struct error err = {0};

    if (onnxrt_backend.open(request, &session, &err) < 0)
        fail_msg("%s", err.message);
    return session;
}

struct backend_session *open_model(const char *name)
{
    struct backend_request request = {.model.path = model_path(name)};

    return open_request(&request);
}

void feed_add(struct tensor_list *feed, const char *name, enum data_type type, int64_t count, const void *data)
{
    struct shape shape = {.rank = count >= 0 ? 1 : 0, .dims = {count}};
    struct tensor tensor;

    tensor_borrow(type, &shape, data, tensor_bytes(type, shape_elements(&shape)), &tensor);
    tensor_list_add(feed, text_of(name), &tensor);
}

void run_model(struct backend_session *session, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct error err = {0};

    *ret = (struct tensor_list){0};
    if (onnxrt_backend.run(session, feed, NULL, ret, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

void run_fails(struct backend_session *session, const struct tensor_list *feed, int code, struct error *err)
{
    struct tensor_list outputs = {0};
    double seconds = -1;

    *err = (struct error){0};
    assert_int_equal(onnxrt_backend.run(session, feed, NULL, &outputs, &seconds, err), code);
    assert_int_equal(err->code, code);
    assert_null(outputs.items);
    assert_true(seconds < 0); /* outputs are written only on success */
}

const struct tensor *output_named(const struct tensor_list *outputs, const char *name)
{
    const struct named_tensor *output = tensor_list_find(outputs, text_of(name));

    assert_non_null(output);
    return &output->tensor;
}

void assert_floats(const struct tensor *tensor, const float *expected, size_t count)
{
    assert_int_equal(tensor->type, DATA_FLOAT32);
    assert_int_equal(tensor->size, count * sizeof(float));
    assert_memory_equal(tensor->data, expected, count * sizeof(float));
}
