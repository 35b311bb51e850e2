/* cli/convert_float16.c: see convert_float16.h. */
#include "cli/convert_float16.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/model_file.h"

struct settling {
    const struct command_context *context;
    const char **operators; /* of the main graph, each once, malloc'd */
    bool *refused;
    size_t count;
};

static void list_operators(struct settling *settling, const struct model *model)
{
    settling->operators = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->operators));
    settling->refused = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->refused));
    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].op_type;
        bool known = false;

        for (size_t k = 0; !known && k < settling->count; k++)
            known = text_equal_string(name, settling->operators[k]);
        if (!known)
            settling->operators[settling->count++] = memory_copy(name.data, name.size);
    }
}

static void release(struct settling *settling)
{
    for (size_t i = 0; i < settling->count; i++)
        free((char *)settling->operators[i]);
    free(settling->operators);
    free(settling->refused);
}

/* Whether the runtime takes the model with these in float32. */
static int try(struct settling *settling, const struct words *keep, bool *ret, struct error *err)
{
    struct log *log = settling->context->log;
    bool muted = log->muted;
    struct subgraph whole;
    struct model *model = NULL;
    int rc;

    log->muted = true;
    rc = model_file_load_keeping(settling->context, keep, &model, err);
    if (rc == 0) {
        subgraph_init_whole(&whole, model);
        rc = model_trial_takes(settling->context, &whole, ret, err);
        subgraph_release(&whole);
    }
    model_free(model);
    log->muted = muted;
    return rc;
}

/* Of operators[first .. first+count-1] finds those that alone are refused in float16: by halves, because they are
 * few. */
static int find_refused(struct settling *settling, size_t first, size_t count, struct error *err)
{
    const char **others = memory_alloc_zero(settling->count + 1, sizeof(*others));
    struct words keep = {.items = others};
    bool taken = false;
    int rc;

    for (size_t i = 0; i < settling->count; i++)
        if (i < first || i >= first + count)
            others[keep.count++] = settling->operators[i];
    rc = try(settling, &keep, &taken, err);
    free(others);
    if (rc < 0 || taken)
        return rc;
    settling->refused[first] = count == 1;
    if (count > 1)
        rc = find_refused(settling, first, count / 2, err);
    if (rc == 0 && count > 1)
        rc = find_refused(settling, first + count / 2, count - count / 2, err);
    return rc;
}

/* The model with the refused operators in float32; where that is not all, everything. */
static int replace(struct settling *settling, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const char **refused = memory_alloc_zero(settling->count + 1, sizeof(*refused));
    struct words keep = {.items = refused}, all = {.items = everything, .count = 1};
    struct string_builder names;
    struct model *settled;
    bool taken;
    int rc;

    string_init(&names);
    for (size_t i = 0; i < settling->count; i++)
        if (settling->refused[i]) {
            string_add_format(&names, "%s%s", keep.count > 0 ? ", " : "", settling->operators[i]);
            refused[keep.count++] = settling->operators[i];
        }
    rc = try(settling, &keep, &taken, err);
    if (rc == 0)
        rc = model_file_load_keeping(settling->context, taken ? &keep : &all, &settled, err);
    if (rc == 0) {
        log_message(settling->context->log, LOG_WARNING,
                    "ONNX Runtime does not take the model with these in float16, so they stay float32: %s",
                    taken ? names.data : "all nodes");
        model_free(*model);
        *model = settled;
    }
    string_release(&names);
    free(refused);
    return rc;
}

int convert_float16_settle(const struct command_context *context, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const struct words all = {.items = everything, .count = 1};
    struct settling settling = {.context = context};
    struct model *original;
    struct subgraph whole;
    bool taken;
    int rc;

    if (!model_file_options(context).load->fp_to_fp16)
        return 0;
    subgraph_init_whole(&whole, *model);
    rc = model_trial_takes(context, &whole, &taken, err);
    subgraph_release(&whole);
    if (rc < 0 || taken)
        return rc;
    rc = try(&settling, &all, &taken, err);
    if (rc < 0 || !taken) /* the conversion is not to blame */
        return rc;
    rc = model_file_open(context, &original, err);
    if (rc < 0)
        return rc;
    list_operators(&settling, original);
    model_free(original);
    rc = find_refused(&settling, 0, settling.count, err);
    if (rc == 0)
        rc = replace(&settling, model, err);
    release(&settling);
    return rc;
}
