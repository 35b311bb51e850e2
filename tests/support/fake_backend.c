/* support/fake_backend.c: see fake_backend.h. */
#include "support/fake_backend.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/results_fixture.h"

struct fake_session {
    struct backend_session base;
    struct fake_model *model;
    struct backend_io inputs[1], outputs[2];
};

static int fake_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct fake_session *session = memory_alloc_zero(1, sizeof(*session));
    bool sequence;

    session->model = (struct fake_model *)request->model.data;
    session->model->opened++;
    session->inputs[0] = input_of("x", DATA_FLOAT32, SHAPE(2));
    session->outputs[0] = input_of("s", DATA_FLOAT32, SHAPE(2));
    session->outputs[0].not_a_tensor = "sequence";
    session->outputs[1] = input_of("y", DATA_FLOAT32, SHAPE(2));
    sequence = session->model->has_sequence || session->model->only_sequences;
    session->base = (struct backend_session){
        .inputs = session->inputs,
        .input_count = 1,
        .outputs = session->outputs + !sequence,
        .output_count = session->model->has_sequence && !session->model->only_sequences ? 2 : 1,
    };
    *ret = &session->base;
    return 0;
}

static void fake_close(struct backend_session *base)
{
    struct fake_session *session = (struct fake_session *)base;

    if (session)
        session->model->closed++;
    free(session);
}

static int fake_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                    struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct fake_session *session = (const struct fake_session *)base;
    const float *x = tensor_list_find(feed, TEXT("x"))->tensor.data;

    assert_int_equal(wanted->count, 1);
    assert_string_equal(wanted->items[0], "y");
    if (session->model->at_run)
        session->model->at_run();
    if (++session->model->runs == session->model->fails_at_run)
        return error_set(err, ERR_BACKEND, "the fake model fails");
    ADD_FLOATS(ret, "y", x[0] + 1, session->model->overflows ? INFINITY : x[1] + 1);
    if (seconds)
        *seconds = 0.25;
    return 0;
}

const struct backend fake_backend = {
    .name = "fake",
    .runner_prefix = "fake-runner",
    .open = fake_open,
    .close = fake_close,
    .run = fake_run,
};

static int fake_load(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                     struct error *err)
{
    *ret = (struct backend_request){.model.data = data};
    return 0;
}

static const struct runner fake_runner = {.backend = &fake_backend, .name = "fake-runner-N0"};

struct driver_settings fake_settings(struct fake_model *model)
{
    return (struct driver_settings){.runners = &fake_runner, .count = 1, .load = fake_load, .load_data = model};
}
