/* cli/debug/passes/assignment.c: see assignment.h. */
#include "cli/debug/passes/assignment.h"

#include "backend/onnxrt/settings.h"
#include "base/memory.h"

static bool is_assignment(const char *decision)
{
    return text_begins_with(text_of(decision), ASSIGNMENT_KIND ":");
}

static int find_assignments(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    struct model *model;
    int rc;

    if (!onnxrt_settings_want_provider(&subject->settings->file.onnxrt.runtime))
        return error_set(err, ERR_INVALID,
                         ASSIGNMENT_KIND ": all nodes run on the processor already: name another provider with "
                                         "--providers");
    rc = model_open(subject->model, NULL, &model, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        struct text op_type = model->nodes.items[i].op_type;

        if (!node_is(&model->nodes.items[i], "Constant"))
            decisions_add(ret, arena_printf(subject->arena, ASSIGNMENT_KIND ":" TEXT_FORMAT "@%s", TEXT_ARGS(op_type),
                                            model_node_label(model, i)));
    }
    model_free(model);
    return 0;
}

const struct decision_source assignment_source = {
    .name = ASSIGNMENT_KIND, .on_request = true, .owns = is_assignment, .find = find_assignments};
