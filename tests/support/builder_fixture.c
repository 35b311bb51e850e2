/* support/builder_fixture.c: see builder_fixture.h. */
#include "support/builder_fixture.h"

#include <string.h>

#include "support/unit_test.h"

static int feed_sample(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    struct builder_fixture *fixture = context;
    struct shape shape = fixture->given.rank > 0 ? fixture->given : inputs[0].shape;
    struct tensor tensor;

    assert_int_equal(count, 1);
    assert_string_equal(inputs[0].name, "x");
    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = shape.dims[i] < 0 ? 2 : shape.dims[i];
    assert_int_equal(tensor_allocate(DATA_FLOAT32, &shape, &tensor, err), 0);
    for (size_t i = 0; i < tensor_elements(&tensor); i++)
        ((float *)tensor_writable(&tensor))[i] = (float)i + 100 * (float)iteration;
    tensor_list_add(ret, TEXT("x"), &tensor);
    fixture->fed++;
    return 0;
}

void builder_fixture_init(struct builder_fixture *fixture, struct fake_tactic *tactics, size_t count)
{
    *fixture = (struct builder_fixture){0};
    small_network_init(&fixture->small, 2);
    fake_provider_init(&fixture->fake, tactics, count);
    captured_log_init(&fixture->log);
    fixture->log.log.threshold = LOG_VERBOSE;
    fixture->providers[0] = &fixture->fake.provider;
    fixture->settings = (struct builder_settings){
        .providers = {.items = fixture->providers, .count = 1},
        .sample = {.feed = feed_sample, .context = fixture, .iterations = 1},
        .effort.optimization_level = 3,
        .threads = 1,
        .log = &fixture->log.log,
    };
}

void builder_fixture_release(struct builder_fixture *fixture)
{
    assert_int_equal(fixture->fake.alive, 0);
    small_network_release(&fixture->small);
    captured_log_release(&fixture->log);
}

struct engine *builder_fixture_build(struct builder_fixture *fixture)
{
    struct engine *engine = NULL;
    struct error error = {0};

    if (engine_build(fixture->small.network, &fixture->settings, &engine, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(fixture->fake.alive, 0);
    return engine;
}

void builder_fixture_fails(struct builder_fixture *fixture, int code, const char *part, const char *another)
{
    struct engine *engine = NULL;
    struct error error = {0};

    assert_int_equal(engine_build(fixture->small.network, &fixture->settings, &engine, &error), code);
    assert_null(engine);
    if (!strstr(error.message, part) || !strstr(error.message, another))
        fail_msg("%s", error.message);
    assert_int_equal(fixture->fake.alive, 0);
}

void builder_fixture_chose(const struct engine *engine, const char *first, const char *second, const char *third)
{
    assert_string_equal(engine->layers[0].tactic.name, first);
    assert_string_equal(engine->layers[1].tactic.name, second);
    assert_string_equal(engine->layers[2].tactic.name, third);
}
