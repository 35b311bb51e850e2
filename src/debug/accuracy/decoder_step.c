/* debug/accuracy/decoder_step.c: with --steps, the step of a decoder in which a difference enters, which `run --steps`
 * finds. Its inputs, with the caches of the reference, become the data of the study.
 */
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"
#include "debug/accuracy/hypotheses.h"

static bool has_number(const struct study_step *step, const char *path)
{
    return json_is_integer(result_find(step->result.root, path));
}

/* A clause about the outputs whose caches carry the difference; "" of one that enters in the step that fails. */
static const char *describe_carriers(struct study_step *step)
{
    const json_t *input;
    size_t i;
    SCOPED_STRING(names);

    json_array_foreach (result_find(step->result.root, "steps/inputs"), i, input)
        if (json_is_true(result_find(input, "carries")))
            name_list_add(&names, result_text(step, input, "present"));
    if (names.size == 0)
        return "";
    return study_text(step->study, "; caches that carry it, each with all others of the reference: [%s]", names.data);
}

static void note_failing_step(struct study_step *step)
{
    struct study *study = step->study;
    long long first = (long long)step_count(step, "steps/first_failing");
    long long entered = (long long)step_count(step, "steps/entered");

    step->outcome = study_text(study, "step %lld fails", first);
    if (!has_number(step, "steps/entered"))
        study_add_note(study,
                       "First failing step: %lld of the decoder. Whether the difference enters there or in its caches "
                       "is not known; "
                       "the input data are those of this step",
                       first);
    else
        study_add_note(study,
                       "First failing step: %lld of the decoder. The difference enters in step %lld, whose inputs, "
                       "with the caches of the reference, are the input data%s",
                       first, entered, describe_carriers(step));
}

/* From here on the study is about one step, or about its data without steps. */
static void leave_steps(struct study *study, const char *inputs)
{
    struct accuracy_settings *settings = arena_alloc_zero(&study->arena, 1, sizeof(*settings));

    *settings = *study->settings;
    settings->steps = (struct words){0};
    if (inputs != NULL) {
        settings->data = study_words(study, "--load-inputs", inputs, NULL);
        settings->data_are_given = true;
    }
    study->settings = settings;
}

void accuracy_test_steps(struct study *study)
{
    const struct accuracy_settings *settings = study->settings;
    struct study_step *step =
        step_begin_model(study, "decoder-steps", "The decoder, step by step", settings->reference);
    const char *inputs = settings->step_inputs != NULL ? settings->step_inputs : step_path(step, "step.json");
    bool fails;

    step_add_words(step, settings->suspect);
    step_add_words(step, settings->data);
    step_add_words(step, study_first_tolerance(study));
    step_add_words(step, settings->steps);
    step_add(step, "--save-step-inputs", inputs, NULL);
    if (!step_run(step))
        return;
    fails = has_number(step, "steps/first_failing");
    if (!step->has_result || step->exit_status != fails) {
        step->outcome = "could not be compared";
        study_conclude(study, OUTCOME_NO_QUESTION,
                       "Nothing to study: the steps of the decoder could not be compared: %s",
                       step->complaint != NULL ? step->complaint : step->command);
        return;
    }
    if (fails) {
        note_failing_step(step);
    } else {
        step->outcome = "no step fails";
        study_add_note(study, "No step fails: the input data are those without --steps");
    }
    leave_steps(study, fails ? inputs : NULL);
}
