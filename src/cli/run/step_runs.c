/* cli/run/step_runs.c: see step_runs.h. */
#include "cli/run/step_runs.h"

#include "base/text/names.h"

static void observe_failure(struct step_observer *observer, size_t iteration, const char *output)
{
    if (iteration >= observer->count)
        return;
    if (observer->output_count == 0 || iteration < observer->outputs_of) {
        string_clear(&observer->outputs);
        observer->outputs_of = iteration;
        observer->output_count = 0;
    }
    if (observer->outputs_of == iteration && observer->output_count++ < MOST_OUTPUTS)
        name_list_add(&observer->outputs, output);
    observer->failed[iteration] = true;
}

static void observe_comparison(void *data, const struct compared_outputs *compared)
{
    struct step_observer *observer = data;

    if (!compared->result->passed)
        observe_failure(observer, compared->iteration, compared->first->name);
    if (observer->next != NULL)
        observer->next(observer->next_data, compared);
}

/* The first output with NaN or infinities stands for all of its iteration, unless outputs that differ are known. */
static void observe_validations(struct step_observer *observer, const struct run_report *report)
{
    for (size_t i = 0; i < report->validation_count; i++) {
        const struct validated_record *record = &report->validations[i];

        if (record->found.nans + record->found.infinities > 0 && record->iteration < observer->count &&
            !observer->failed[record->iteration])
            observe_failure(observer, record->iteration, record->output);
    }
}

size_t step_first_failed(const bool *failed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (failed[i])
            return i;
    return SIZE_MAX;
}

int step_runs_make(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                   struct step_observer *observer, bool *ret_passed, struct error *err)
{
    struct run_model whole = {.context = model->context, .settings = model->settings, .library = model->library};
    struct driver_settings own = *settings;
    struct run_results results = {0};
    struct run_report report;
    int rc;

    run_report_init(&report);
    own.sequential = own.in_groups = own.keep_outputs = false;
    own.load_data = model->in_groups ? &whole : model; /* no engine is run in groups: `whole` needs none */
    own.report = own.report == NULL && own.validate ? &report : own.report;
    own.comparison.divergence = NULL;
    observer->next = own.comparison.on_compared;
    observer->next_data = own.comparison.on_compared_data;
    own.comparison.on_compared = observe_comparison;
    own.comparison.on_compared_data = observer;
    rc = driver_run(&own, loader, &results, ret_passed, err);
    if (own.report != NULL)
        observe_validations(observer, own.report);
    run_results_release(&results);
    run_report_release(&report);
    run_model_release(&whole);
    return rc;
}
