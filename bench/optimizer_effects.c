/* bench/optimizer_effects.c: what each of ONNX Runtime's optimizers does to a model's outputs.
 *
 *   optimizer_effects MODEL
 *
 * Runs the model on four samples of generated data: without the optimizers that a session applies to it; with all of
 * them; and, for each one that changes the model, with that one alone and with all others. If an optimizer that
 * consists of rules changes the model, each of its rules is tried in the same way.
 *
 * Prints lines of tab-separated fields:
 *
 *   runtime    version
 *   processor  name, number of processors used
 *   model      nodes without optimizers, and with all; number of output elements of a sample; their largest magnitude
 *   all        how many nodes all of them replace, by how many; largest and mean difference of outputs, to none
 *   NAME       the same for that one alone; then largest and mean difference of all but that one, to all. `refused`
 *              stands for what the runtime does not run. Optimizers that do nothing alone, and whose lack makes no
 *              difference, have no line.
 *
 * Exits with status 3 when the runtime does not run the model, and with 4 when differences would mean nothing: two
 * sessions with the same settings differ, or outputs contain a NaN.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/onnxrt/library.h"
#include "backend/onnxrt/optimizers.h"
#include "base/memory.h"
#include "base/system.h"
#include "backend/onnxrt/settings.h"
#include "comparator/data/loader.h"
#include "debug/passes/rewritten.h"
#include "tensor/compare/difference.h"
#include "tensor/statistics/range.h"

#define SAMPLES 4
#define REWRITTEN "optimizer_effects.onnx" /* in the current folder */

static struct error error;

static void must(int rc, int status)
{
    if (rc == 0)
        return;
    fprintf(stderr, "optimizer_effects: %s\n", error.message);
    exit(status);
}

/* ---- Sessions ---- */

struct outputs {
    struct tensor_list samples[SAMPLES];
};

struct subject {
    const char *path;
    struct onnxrt_settings settings;
    struct data_loader *loader;
};

static void outputs_release(struct outputs *outputs)
{
    for (size_t i = 0; i < SAMPLES; i++)
        tensor_list_release(&outputs->samples[i]);
}

/* Makes a session without the optimizers and rules in `disabled` (names separated by ';'). The optimized model is
 * written to `path`, and `optimizers` receives the ones that are applied; either may be NULL. */
static int open_session(const struct subject *subject, const char *disabled, const char *path,
                        struct onnxrt_optimizers *optimizers, struct backend_session **ret)
{
    struct onnxrt_entry setting = {.key = ONNXRT_DISABLED_OPTIMIZERS_KEY, .value = disabled};
    struct onnxrt_settings settings = subject->settings;
    const struct backend_request request = {.model.path = subject->path, .settings = &settings};

    if (disabled[0] != '\0')
        settings.execution.session_config = (struct onnxrt_entries){&setting, 1};
    settings.optimizers = optimizers;
    settings.optimized_path = path;
    return onnxrt_backend.open(&request, ret, &error);
}

static int run_samples(struct backend_session *session, struct data_loader *loader, struct outputs *ret)
{
    const struct backend_io *inputs;
    size_t count;
    int rc;

    inputs = session->inputs;
    count = session->input_count;
    rc = data_loader_keep(loader, inputs, count, &error);
    for (size_t i = 0; rc == 0 && i < SAMPLES; i++) {
        struct tensor_list feed = {0};

        rc = data_loader_feed(loader, inputs, count, (int64_t)i, &feed, &error);
        if (rc == 0)
            rc = onnxrt_backend.run(session, &feed, NULL, &ret->samples[i], NULL, &error);
        tensor_list_release(&feed);
    }
    return rc;
}

static int run(const struct subject *subject, const char *disabled, struct onnxrt_optimizers *optimizers,
               struct outputs *ret)
{
    struct backend_session *session;
    int rc;

    *ret = (struct outputs){0};
    rc = open_session(subject, disabled, NULL, optimizers, &session);
    if (rc < 0)
        return rc;
    rc = run_samples(session, subject->loader, ret);
    onnxrt_backend.close(session);
    return rc;
}

/* ---- Differences ---- */

struct effect {
    double largest, mean;
};

static struct effect compare(const struct outputs *a, const struct outputs *b)
{
    static const struct tolerance none = {0};
    struct effect ret = {0};
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < b->samples[i].count; k++) {
            const struct named_tensor *other = &b->samples[i].items[k];
            const struct named_tensor *tensor = tensor_list_find(&a->samples[i], text_of(other->name));
            size_t elements = tensor_elements(&other->tensor);
            struct pair pair;

            if (tensor == NULL || tensor_elements(&tensor->tensor) != elements)
                return (struct effect){INFINITY, INFINITY};
            pair_init(&pair, &tensor->tensor, &other->tensor, true, false);
            for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
                struct difference_summary run;

                pair_summarize(&pair, first, elements_in_run(elements, first), &none, &run);
                ret.largest = difference_greatest(ret.largest, run.absolute_maximum);
                sum += run.absolute_sum;
            }
            count += elements;
        }
    ret.mean = count > 0 ? sum / (double)count : 0;
    return ret;
}

/* ---- Optimizers ---- */

struct measurement {
    const struct subject *subject;
    struct onnxrt_optimizers optimizers; /* the applied ones */
    struct outputs none, all;            /* outputs without any of them, and with all */
    struct model *unchanged;             /* the model that the runtime writes without them */
};

static bool has_rule(const char *optimizer, const char *name)
{
    const char *const *rules = onnxrt_optimizer_rules(optimizer);

    for (; rules != NULL && *rules != NULL; rules++)
        if (strcmp(*rules, name) == 0)
            return true;
    return false;
}

/* All names except `but` and the optimizer that applies that rule; `but` NULL: all names. */
static char *disable_all(const struct onnxrt_optimizers *optimizers, const char *but)
{
    struct string_builder ret;

    string_init(&ret);
    for (size_t i = 0; i < optimizers->count; i++) {
        const char *name = optimizers->items[i].name, *const *rules = onnxrt_optimizer_rules(name);

        if (but == NULL || (strcmp(name, but) != 0 && !has_rule(name, but)))
            string_add_format(&ret, "%s;", name);
        for (; rules != NULL && *rules != NULL; rules++)
            if (but == NULL || strcmp(*rules, but) != 0)
                string_add_format(&ret, "%s;", *rules);
    }
    return string_take(&ret);
}

/* Whether that optimizer, or the one that applies that rule, has changed the model. */
static bool has_changed(const struct onnxrt_optimizers *optimizers, const char *name)
{
    for (size_t i = 0; i < optimizers->count; i++)
        if (optimizers->items[i].has_changed &&
            (strcmp(optimizers->items[i].name, name) == 0 || has_rule(optimizers->items[i].name, name)))
            return true;
    return false;
}

/* The model that the session writes without these. */
static struct model *rewrite(const struct subject *subject, const char *disabled)
{
    struct backend_session *session;
    struct model *ret;

    must(open_session(subject, disabled, REWRITTEN, NULL, &session), 2);
    onnxrt_backend.close(session);
    must(model_open(REWRITTEN, NULL, &ret, &error), 2);
    unlink(REWRITTEN); /* the mapping stays valid */
    return ret;
}

static void print_replaced(struct model *without, struct model *with)
{
    struct rewritten_nodes nodes;

    rewritten_nodes_find(without, with, &nodes);
    printf("\t%zu\t%zu", nodes.before.count, nodes.after.count);
    rewritten_nodes_release(&nodes);
}

static void print_effect(int rc, const struct outputs *outputs, const struct outputs *reference)
{
    struct effect effect;

    if (rc < 0) {
        printf("\trefused\trefused");
        return;
    }
    effect = compare(outputs, reference);
    printf("\t%.2g\t%.2g", effect.largest, effect.mean);
}

/* Prints one line, unless the optimizer alone does not change this model and leaving it out makes no difference. */
static void try_optimizer(const struct measurement *measurement, const char *name)
{
    const struct subject *subject = measurement->subject;
    char *others = disable_all(&measurement->optimizers, name);
    struct outputs alone, left_out;
    struct onnxrt_optimizers applied;
    int alone_rc, left_out_rc;

    onnxrt_optimizers_init(&applied);
    alone_rc = run(subject, others, &applied, &alone);
    left_out_rc = run(subject, name, NULL, &left_out);
    if (alone_rc < 0 || left_out_rc < 0 || has_changed(&applied, name) ||
        compare(&left_out, &measurement->all).largest != 0) {
        struct model *rewritten = alone_rc < 0 ? NULL : rewrite(subject, others);

        printf("%s", name);
        if (rewritten != NULL)
            print_replaced(measurement->unchanged, rewritten);
        else
            printf("\trefused\trefused");
        print_effect(alone_rc, &alone, &measurement->none);
        print_effect(left_out_rc, &left_out, &measurement->all);
        putchar('\n');
        model_free(rewritten);
    }
    outputs_release(&alone);
    outputs_release(&left_out);
    onnxrt_optimizers_release(&applied);
    free(others);
}

static void try_all(const struct measurement *measurement)
{
    const struct onnxrt_optimizers *optimizers = &measurement->optimizers;

    for (size_t i = 0; i < optimizers->count; i++) {
        const char *const *rules = onnxrt_optimizer_rules(optimizers->items[i].name);

        if (!optimizers->items[i].has_changed)
            continue;
        if (rules == NULL)
            try_optimizer(measurement, optimizers->items[i].name);
        for (; rules != NULL && *rules != NULL; rules++)
            try_optimizer(measurement, *rules);
    }
}

/* ---- With all, and without any ---- */

static void must_repeat(const struct subject *subject, const char *disabled, const struct outputs *first)
{
    struct outputs again;

    must(run(subject, disabled, NULL, &again), 3);
    if (compare(&again, first).largest != 0) {
        fprintf(stderr, "optimizer_effects: two sessions with the same settings differ, or outputs contain NaN\n");
        exit(4);
    }
    outputs_release(&again);
}

static void print_model(const struct measurement *measurement, struct model *rewritten)
{
    const struct tensor_list *outputs = &measurement->none.samples[0];
    double magnitude = 0;
    size_t elements = 0;

    for (size_t i = 0; i < outputs->count; i++) {
        elements += tensor_elements(&outputs->items[i].tensor);
        if (elements_arithmetic(outputs->items[i].tensor.type) != ARITHMETIC_NONE)
            magnitude = fmax(magnitude, range_largest_magnitude(&outputs->items[i].tensor));
    }
    printf("model\t%zu\t%zu\t%zu\t%.2g\n", measurement->unchanged->nodes.count, rewritten->nodes.count, elements,
           magnitude);
    printf("all");
    print_replaced(measurement->unchanged, rewritten);
    print_effect(0, &measurement->all, &measurement->none);
    putchar('\n');
}

static void measure(const struct subject *subject)
{
    struct measurement measurement = {.subject = subject};
    struct model *rewritten;
    char *all;

    onnxrt_optimizers_init(&measurement.optimizers);
    must(run(subject, "", &measurement.optimizers, &measurement.all), 3);
    all = disable_all(&measurement.optimizers, NULL);
    must(run(subject, all, NULL, &measurement.none), 3);
    must_repeat(subject, "", &measurement.all);
    must_repeat(subject, all, &measurement.none);
    measurement.unchanged = rewrite(subject, all);
    rewritten = rewrite(subject, "");
    print_model(&measurement, rewritten);
    model_free(rewritten);
    try_all(&measurement);
    model_free(measurement.unchanged);
    outputs_release(&measurement.all);
    outputs_release(&measurement.none);
    onnxrt_optimizers_release(&measurement.optimizers);
    free(all);
}

static void print_machine(void)
{
    struct string_builder processor;
    const struct onnxrt *runtime;

    must(onnxrt_load(NULL, &runtime, &error), 2);
    string_init(&processor);
    system_add_processor_name(&processor);
    printf("runtime\t%s\nprocessor\t%s\t%d\n", runtime->version, processor.data, system_processors());
    string_release(&processor);
}

int main(int argc, char **argv)
{
    struct data_loader_settings data = {.seed = 1, .iterations = SAMPLES};
    struct subject subject = {.settings = {.optimization_level = -1}};

    if (argc != 2) {
        fprintf(stderr, "usage: optimizer_effects MODEL\n");
        return 2;
    }
    subject.path = argv[1];
    must(data_loader_new(&data, NULL, &subject.loader, &error), 2);
    print_machine();
    measure(&subject);
    data_loader_free(subject.loader);
    return 0;
}
