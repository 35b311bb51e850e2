/* fake_provider.h: a provider whose kernels copy their first input and add 1, whatever the layer says; some of them
 * slowly, some not at all. */
#ifndef FAKE_PROVIDER_H
#define FAKE_PROVIDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "engine/tactic/tactic.h"

struct fake_tactic {
    const char *name;
    double seconds;        /* that a run takes, at least */
    const char *layout;    /* of first input and output; NULL: row-major */
    const char *for_layer; /* NULL: for all */
    bool create_fails, run_fails;
    int created, runs; /* how often */
};

struct fake_provider {
    struct tactic_provider provider;
    struct fake_tactic *tactics;
    size_t count;
    int created, alive; /* kernels */
};

struct fake_kernel {
    struct kernel kernel;
    struct fake_provider *fake;
    struct fake_tactic *tactic;
};

static inline int fake_run(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs,
                           struct error *err)
{
    struct fake_kernel *fake = (struct fake_kernel *)kernel;
    double start = stopwatch_now();
    const float *from = inputs[0].data;
    float *to = (float *)(uintptr_t)outputs[0].data;

    fake->tactic->runs++;
    if (fake->tactic->run_fails)
        return error_set(err, ERR_BACKEND, "the fake kernel does not run");
    assert_int_equal(inputs[0].size, outputs[0].size);
    for (size_t i = 0; i < inputs[0].size / sizeof(float); i++)
        to[i] = from[i] + 1;
    while (stopwatch_now() - start < fake->tactic->seconds)
        ;
    return 0;
}

static inline void fake_free(struct kernel *kernel)
{
    ((struct fake_kernel *)kernel)->fake->alive--;
    free(kernel->output_shapes);
    free(kernel);
}

static inline int fake_list(struct tactic_provider *provider, const struct kernel_request *request,
                            struct tactic_list *ret, struct error *err)
{
    struct fake_provider *fake = (struct fake_provider *)provider;

    (void)err;
    for (size_t i = 0; i < fake->count; i++) {
        const struct fake_tactic *tactic = &fake->tactics[i];
        struct tactic *added;

        if (tactic->for_layer && strcmp(tactic->for_layer, request->layer->name) != 0)
            continue;
        added = tactic_list_add(ret, provider, request->layer, text_of(tactic->name), text_of(tactic->name));
        if (tactic->layout) {
            snprintf(added->input_layouts[0].text, LAYOUT_TEXT_SIZE, "%s", tactic->layout);
            snprintf(added->output_layouts[0].text, LAYOUT_TEXT_SIZE, "%s", tactic->layout);
        }
    }
    return 0;
}

static inline int fake_create(struct tactic_provider *provider, const struct kernel_request *request,
                              const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    static const struct kernel_functions functions = {.run = fake_run, .free = fake_free};
    struct fake_provider *fake = (struct fake_provider *)provider;
    struct fake_kernel *kernel;
    size_t i = 0;

    while (strcmp(fake->tactics[i].name, tactic->name) != 0)
        i++;
    fake->created++;
    fake->tactics[i].created++;
    if (fake->tactics[i].create_fails)
        return error_set(err, ERR_BACKEND, "the fake kernel cannot be made");
    kernel = memory_alloc_zero(1, sizeof(*kernel));
    kernel->kernel = (struct kernel){.functions = &functions, .outputs_known = true};
    kernel->kernel.output_shapes = memory_alloc_zero(1, sizeof(struct shape));
    kernel->kernel.output_shapes[0] = request->inputs[0].shape;
    kernel->fake = fake;
    kernel->tactic = &fake->tactics[i];
    fake->alive++;
    *ret = &kernel->kernel;
    return 0;
}

static inline void fake_provider_init(struct fake_provider *fake, struct fake_tactic *tactics, size_t count)
{
    *fake = (struct fake_provider){
        .provider = {.name = "fake", .version = "1", .list = fake_list, .create = fake_create},
        .tactics = tactics,
        .count = count,
    };
}

#endif
