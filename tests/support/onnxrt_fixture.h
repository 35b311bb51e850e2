/* support/onnxrt_fixture.h: models of tests/models/, opened and run. */
#ifndef SUPPORT_ONNXRT_FIXTURE_H
#define SUPPORT_ONNXRT_FIXTURE_H

#include <limits.h>

#include "backend/backend.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

/* For cmocka_run_group_tests(): stores the folder of the models, because tests change the current folder. */
extern char models_folder[PATH_MAX - 256];

int find_models(void **state);

/* The path of a model; overwritten by the next call. */
const char *model_path(const char *name);

/* Calls `check` with the path of every model in tests/models/. */
void check_small_models(void (*check)(const char *path));

/* The same for those of `names` that are in the folder of real models. Returns their number. */
size_t check_real_models(const char *const *names, size_t name_count, void (*check)(const char *path));
struct backend_session *open_request(const struct backend_request *request);
struct backend_session *open_model(const char *name);

/* A tensor of rank 1, or a scalar when `count` is -1, that refers to `data`. */
void feed_add(struct tensor_list *feed, const char *name, enum data_type type, int64_t count, const void *data);
void run_model(struct backend_session *session, const struct tensor_list *feed, struct tensor_list *ret);

/* Runs, expecting a failure of that code, whose message goes to `err`. */
void run_fails(struct backend_session *session, const struct tensor_list *feed, int code, struct error *err);
const struct tensor *output_named(const struct tensor_list *outputs, const char *name);
void assert_floats(const struct tensor *tensor, const float *expected, size_t count);

#endif
