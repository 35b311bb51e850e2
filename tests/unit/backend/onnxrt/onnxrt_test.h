/* onnxrt_test.h: models of tests/models/, opened and fed. Tests are skipped where there is no ONNX Runtime. */
#ifndef ONNXRT_TEST_H
#define ONNXRT_TEST_H

#include "support/unit_test.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/onnxrt/library.h"

/* For cmocka_run_group_tests(): remembers the folder of the models, since tests move to other folders. */
static char models_folder[PATH_MAX - 256];

static inline int find_models(void **state)
{
    char here[PATH_MAX - 512];

    if (!getcwd(here, sizeof(here)))
        return -1;
    snprintf(models_folder, sizeof(models_folder), "%s/tests/models", here);
    return 0;
}

#define REQUIRE_ONNXRUNTIME()                                                                                          \
    do {                                                                                                               \
        const struct onnxrt *runtime_;                                                                                 \
        struct error error_;                                                                                           \
        if (onnxrt_load(NULL, &runtime_, &error_) == ERR_MISSING) {                                                    \
            print_message("%s\n", error_.message);                                                                     \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The path of a model; overwritten by the next call. */
static inline const char *model_path(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s.onnx", models_folder, name);
    return path;
}

/* Calls `check` with the path of every model in tests/models/. */
static inline void check_small_models(void (*check)(const char *path))
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

/* The same with those of `names` that are in the folder of real models. Returns how many there are. */
static inline size_t check_real_models(const char *const *names, size_t name_count, void (*check)(const char *path))
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

static inline struct backend_session *open_request(const struct backend_request *request)
{
    struct backend_session *session = NULL;
    struct error err = {0};

    if (onnxrt_backend.open(request, &session, &err) < 0)
        fail_msg("%s", err.message);
    return session;
}

static inline struct backend_session *open_model(const char *name)
{
    struct backend_request request = {.model_path = model_path(name)};

    return open_request(&request);
}

/* A tensor of rank 1, or a scalar when `count` is -1, that refers to `data`. */
static inline void feed_add(struct tensor_list *feed, const char *name, enum data_type type, int64_t count,
                            const void *data)
{
    struct shape shape = {.rank = count >= 0 ? 1 : 0, .dims = {count}};
    struct tensor tensor;

    tensor_borrow(type, &shape, data, tensor_bytes(type, shape_elements(&shape)), &tensor);
    tensor_list_add(feed, text_of(name), &tensor);
}

static inline void run_model(struct backend_session *session, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct error err = {0};

    *ret = (struct tensor_list){0};
    if (onnxrt_backend.run(session, feed, NULL, ret, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* Runs, expecting a failure of that code, whose message goes to `err`. */
static inline void run_fails(struct backend_session *session, const struct tensor_list *feed, int code,
                             struct error *err)
{
    struct tensor_list outputs = {0};
    double seconds = -1;

    *err = (struct error){0};
    assert_int_equal(onnxrt_backend.run(session, feed, NULL, &outputs, &seconds, err), code);
    assert_int_equal(err->code, code);
    assert_null(outputs.items);
    assert_true(seconds < 0); /* outputs are written only on success */
}

static inline void assert_mentions(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("'%s' does not hold '%s'", message, part);
}

static inline const struct tensor *output_named(const struct tensor_list *outputs, const char *name)
{
    const struct named_tensor *output = tensor_list_find(outputs, text_of(name));

    assert_non_null(output);
    return &output->tensor;
}

static inline void assert_floats(const struct tensor *tensor, const float *expected, size_t count)
{
    assert_int_equal(tensor->type, DATA_FLOAT32);
    assert_int_equal(tensor->size, count * sizeof(float));
    assert_memory_equal(tensor->data, expected, count * sizeof(float));
}

#endif
