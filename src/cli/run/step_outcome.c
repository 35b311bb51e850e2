/* cli/run/step_outcome.c: see step_outcome.h. */
#include "cli/run/step_outcome.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

const struct tensor *step_outcome_tokens(const struct step_outcome *outcome, size_t step)
{
    const struct decoder_input *tokens = decoder_find_role(&outcome->decoder, DECODER_TOKENS);
    const struct named_tensor *fed = tensor_list_find(&outcome->steps.feeds.items[step], text_of(tokens->name));

    return fed != NULL ? &fed->tensor : NULL;
}

size_t step_to_look_into(const struct step_outcome *outcome)
{
    return outcome->entered != SIZE_MAX ? outcome->entered : outcome->first;
}

void step_outcome_release(struct step_outcome *outcome)
{
    decoder_steps_release(&outcome->steps);
    tensor_list_release(&outcome->encoded);
    decoder_release(&outcome->decoder);
    free(outcome->failed);
    free(outcome->carries);
    *outcome = (struct step_outcome){0};
}

static void write_step_or_null(const char *key, size_t step, struct json_writer *json)
{
    if (json_writer_key_or_null(json, key, step != SIZE_MAX))
        json_writer_integer(json, (int64_t)step);
}

void step_outcome_write(const struct step_outcome *outcome, struct json_writer *json)
{
    json_writer_begin_object(json);
    json_writer_begin_array_member(json, "inputs");
    for (size_t i = 0; i < outcome->decoder.count; i++) {
        json_writer_begin_object(json);
        json_writer_add_string(json, "name", outcome->decoder.inputs[i].name);
        json_writer_add_string(json, "role", decoder_role_name(outcome->decoder.inputs[i].role));
        json_writer_add_string(json, "present", outcome->decoder.inputs[i].present);
        if (json_writer_key_or_null(json, "paired", outcome->decoder.inputs[i].present != NULL))
            json_writer_string(json, cache_rule_name(outcome->decoder.inputs[i].rule));
        if (json_writer_key_or_null(json, "carries", outcome->carries != NULL && outcome->decoder.inputs[i].present))
            json_writer_boolean(json, outcome->carries[i]);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_add_boolean(json, "tokens_loaded", outcome->steps.has_tokens);
    json_writer_begin_array_member(json, "steps");
    for (size_t step = 0; step < outcome->steps.feeds.count; step++) {
        const struct tensor *tokens = step_outcome_tokens(outcome, step);

        json_writer_begin_object(json);
        json_writer_add_boolean(json, "passed", !outcome->failed[step]);
        json_writer_begin_array_member(json, "tokens");
        for (size_t i = 0; tokens != NULL && i < tensor_elements(tokens); i++) {
            uint64_t token;

            elements_to_integers(tokens, i, 1, &token);
            json_writer_integer(json, (int64_t)token);
        }
        json_writer_end_array(json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    write_step_or_null("first_failing", outcome->first, json);
    write_step_or_null("entered", outcome->entered, json);
    json_writer_end_object(json);
}
