/* debug/simplify/simplify.c: see simplify.h. */
#include "debug/simplify/simplify.h"

#include "debug/belief/belief.h"

#include <stdlib.h>
#include <string.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "debug/simplify/kind.h"
#include "debug/simplify/soundness.h"
#include "onnx/edit/model.h"
#include "search/sets/greedy_search.h"

#define SAVING "Saving ONNX model to:"

/* In the order in which they run, by enum simplification. Subgraphs come first: the weights of a branch that has
 * replaced its `If` belong to the model then. */
static const struct simplify_kind *const kinds[] = {
    [SIMPLIFY_BODIES] = &simplify_bodies,
    [SIMPLIFY_WEIGHTS] = &simplify_weights,
    [SIMPLIFY_ATTRIBUTES] = &simplify_attributes,
    [SIMPLIFY_SHAPES] = &simplify_shapes,
};

/* A model that consists of another one's bytes. */
struct changed_model {
    struct model *model; /* NULL: none */
    struct subgraph whole;
    struct hash identity;
    bool is_complete; /* types and shapes are complete */
};

/* ONNX Runtime's result for a candidate. */
struct tried_model {
    struct hash identity;
    char *objection; /* reason for not checking it; NULL: none */
};

struct tried_models {
    struct tried_model *items;
    size_t count, capacity;
};

struct simplify {
    const struct simplify_settings *settings;
    struct candidate_maker *maker;
    const struct subgraph *bad; /* the original */
    struct debug_session *session;
    struct log *log;
    struct simplified_model now;  /* the simplest failing model */
    struct hash identity;         /* of it */
    bool changed;                 /* `now` is simpler than the original */
    struct string_builder suffix; /* suffix of the phase's replay keys: the kinds so far, on which its models depend */

    const struct simplify_kind *kind;
    struct simplify_parts parts;
    struct greedy_search search;
    enum soundness soundness;         /* of `now` */
    struct tried_models tried_models; /* results for candidates of `now` */
};

/* ---- Models ---- */

static void drop_changed(struct changed_model *changed)
{
    if (changed->model == NULL)
        return;
    subgraph_release(&changed->whole);
    model_free(changed->model);
    changed->model = NULL;
}

/* Outputs whose shape the runtime cannot infer any more (those of a Loop) keep their rank. */
static void keep_ranks(const struct simplify *simplify, struct changed_model *changed)
{
    const struct model *before = simplify->now.model;

    for (size_t i = 0; i < changed->model->outputs.count; i++) {
        uint32_t value = changed->model->outputs.items[i];
        struct value_type type, known;

        value_info_decode(changed->model->values.items[value].info, &type);
        value_info_decode(before->values.items[value].info, &known);
        if (type.not_a_tensor != NULL || type.has_shape || !known.has_shape || type.element != known.element)
            continue;
        for (size_t axis = 0; axis < known.shape.rank; axis++) {
            known.shape.dims[axis] = -1;
            known.symbols[axis] = (struct text){"", 0};
        }
        model_set_type(changed->model, value, &known);
    }
}

/* Changed shapes are identified by the inputs, not by the choices. */
static struct hash hash_changes(const struct simplify *simplify, const uint8_t *choices, const struct model *changed)
{
    const struct simplify_kind *kind = simplify->kind;
    struct hash hash = hash_combine(simplify->identity, hash_bytes(kind->suffix, strlen(kind->suffix)));

    return hash_combine(hash,
                        kind->identify != NULL ? kind->identify(changed) : hash_bytes(choices, simplify->parts.count));
}

/* The current model, changed by these choices, without types and shapes. */
static int make_changed(const struct simplify *simplify, const uint8_t *choices, struct changed_model *ret,
                        struct error *err)
{
    struct changed_model changed = {.model = model_copy(simplify->now.model)};
    int rc = simplify->kind->apply(&simplify->parts, changed.model, choices, err);

    /* Constant nodes are removed before the check, so that the checked model is the written one. */
    if (rc == 0)
        rc = model_lower_constants(changed.model, err);
    subgraph_init_whole(&changed.whole, changed.model);
    if (rc < 0) {
        drop_changed(&changed);
        return rc;
    }
    changed.identity = hash_changes(simplify, choices, changed.model);
    *ret = changed;
    return 0;
}

/* ERR_BACKEND if the runtime rejects the model. */
static int complete_types(const struct simplify *simplify, struct changed_model *changed, struct error *err)
{
    const struct candidate_settings *settings = simplify->maker->settings;
    int rc = 0;

    if (simplify->kind->changes_types && !changed->is_complete) {
        model_forget_shapes(changed->model);
        rc = types_infer(changed->model, NULL, settings->backend, &settings->request, NULL, err);
        keep_ranks(simplify, changed);
    }
    changed->is_complete = rc == 0;
    return rc;
}

void simplified_model_release(struct simplified_model *simplified)
{
    if (simplified->bytes == NULL)
        return;
    subgraph_release(&simplified->whole);
    model_free(simplified->model);
    free(simplified->bytes);
    simplified->bytes = NULL;
}

/* Makes `subgraph` (which may be part of the current model) the current model. External data are not moved. */
static int take_over(struct simplify *simplify, const struct subgraph *subgraph, struct error *err)
{
    struct simplified_model taken = {0};
    size_t size;
    int rc = model_write_memory(subgraph, &taken.bytes, &size, err);

    if (rc == 0)
        rc = model_parse((struct span){(const uint8_t *)taken.bytes, size}, subgraph->model->display_name, &taken.model,
                         err);
    if (rc < 0) {
        model_free(taken.model);
        free(taken.bytes);
        return rc;
    }
    free(taken.model->folder);
    taken.model->folder = memory_strdup(subgraph->model->folder);
    subgraph_init_whole(&taken.whole, taken.model);
    simplified_model_release(&simplify->now);
    simplify->now = taken;
    return 0;
}

/* ---- What the session asks ---- */

static void log_trial(const struct simplify *simplify, const struct greedy_search *search)
{
    const struct simplify_kind *kind = simplify->kind;
    size_t changed = 0, last = 0;
    SCOPED_STRING(name);

    for (size_t i = 0; i < search->count; i++)
        if (search->candidate[i] != search->current[i]) {
            changed++;
            last = i;
        }
    kind->name(&simplify->parts, simplify->now.model, last, &name);
    if (changed == 1)
        log_message(simplify->log, LOG_INFO, "Trying %s for '%s'", kind->choice_name(search->choice), name.data);
    else
        log_message(simplify->log, LOG_INFO, "Trying %s for %zu of %zu %s", kind->choice_name(search->choice), changed,
                    search->count, kind->parts);
}

static const struct tried_model *find_tried(const struct simplify *simplify, struct hash identity)
{
    for (size_t i = 0; i < simplify->tried_models.count; i++)
        if (hash_equal(simplify->tried_models.items[i].identity, identity))
            return &simplify->tried_models.items[i];
    return NULL;
}

/* Finds reasons against checking a candidate: ONNX Runtime gets a worse result than for the current model. */
static int try_candidate(struct simplify *simplify, struct changed_model *candidate, const struct tried_model **ret,
                         struct error *err)
{
    struct tried_model tried = {.identity = candidate->identity};
    enum soundness soundness;
    struct error why = {0};
    bool objects;
    int rc;

    *ret = find_tried(simplify, candidate->identity);
    if (*ret != NULL)
        return 0;
    rc = complete_types(simplify, candidate, &why);
    if (rc < 0 && rc != ERR_BACKEND)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    objects = rc < 0;
    if (rc == 0 && simplify->soundness > SOUND_NOT_AT_ALL) {
        rc = model_soundness(simplify->settings->sandbox, &candidate->whole, simplify->kind->changes_inputs, &soundness,
                             &why, err);
        if (rc < 0)
            return rc;
        objects = soundness < simplify->soundness;
    }
    if (objects)
        tried.objection = memory_strdup(why.message);
    *VECTOR_APPEND(&simplify->tried_models) = tried;
    *ret = &simplify->tried_models.items[simplify->tried_models.count - 1];
    return 0;
}

static void forget_tried_models(struct simplify *simplify)
{
    for (size_t i = 0; i < simplify->tried_models.count; i++)
        free(simplify->tried_models.items[i].objection);
    free(simplify->tried_models.items);
    simplify->tried_models = (struct tried_models){0};
}

static int identify_trial(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    struct simplify *simplify = data;
    struct changed_model changed;
    int rc;

    if (!ret->is_known)
        log_trial(simplify, search);
    rc = make_changed(simplify, ((const struct greedy_search *)search)->candidate, &changed, err);
    ret->num_nodes = (int64_t)simplify->now.model->nodes.count;
    ret->skip_verdict = VERDICT_PASS;
    if (rc == ERR_INVALID) { /* a model that cannot be created is not checked */
        log_message(simplify->log, LOG_INFO, "Not checked: %s", err->message);
        ret->action = CANDIDATE_SKIP;
        return 0;
    }
    if (rc < 0)
        return rc;
    ret->has_identity = true;
    ret->identity = changed.identity;
    ret->content = memory_alloc(sizeof(changed));
    *(struct changed_model *)ret->content = changed;
    return 0;
}

static void release_changed(void *changed)
{
    drop_changed(changed);
    free(changed);
}

/* Writes the input data, if requested, of unchanged inputs. */
static int write_model(const struct simplify *simplify, const struct subgraph *whole,
                       struct candidate_description *candidate, const struct candidate_paths *paths, struct error *err)
{
    int rc = candidate_data_write(simplify->maker->reference, simplify->bad, paths, err);

    if (rc == 0)
        rc = model_write(whole, paths->items[CANDIDATE_ARTIFACT], NULL, FILE_INTERMEDIATE, NULL, err);
    if (rc < 0)
        return rc;
    candidate->has_file = true;
    /* not that of its pieces: the same bytes come from other places once a result is parsed again */
    return hash_file(paths->items[CANDIDATE_ARTIFACT], &candidate->file, err);
}

static int write_trial(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                       struct error *err)
{
    struct simplify *simplify = data;
    struct changed_model *changed = candidate->content;
    const struct tried_model *tried;
    int rc = try_candidate(simplify, changed, &tried, err);

    if (rc < 0)
        return rc;
    if (tried->objection != NULL) {
        candidate->action = CANDIDATE_SKIP;
        log_message(simplify->log, LOG_INFO, "Not checked, because ONNX Runtime rejects it: %s", tried->objection);
        return 0;
    }
    rc = complete_types(simplify, changed, err);
    return rc == 0 ? write_model(simplify, &changed->whole, candidate, paths, err) : rc;
}

/* ---- A phase ---- */

/* Makes the search's result the current model. */
static int keep_result(struct simplify *simplify, struct error *err)
{
    const struct greedy_search *search = &simplify->search;
    struct changed_model changed = {0};
    SCOPED_STRING(report);
    size_t kept = 0;
    int rc;

    for (size_t i = 0; i < search->count; i++)
        kept += search->current[i] != 0;
    if (kept == 0) {
        log_message(simplify->log, LOG_FINISH, "Nothing changed: no change to any of %zu %s keeps the failure",
                    search->count, simplify->kind->parts);
        return 0;
    }
    rc = make_changed(simplify, search->current, &changed, err);
    if (rc < 0)
        goto done;
    rc = complete_types(simplify, &changed, err);
    if (rc < 0)
        goto done;
    simplify->kind->report(&simplify->parts, changed.model, search->current, &report);
    simplify->identity = changed.identity;
    rc = take_over(simplify, &changed.whole, err);
    if (rc < 0)
        goto done;
    log_message(simplify->log, LOG_FINISH, "%s", report.data);
    simplify->changed = true;
done:
    drop_changed(&changed);
    return rc;
}

static int search_parts(struct simplify *simplify, struct error *err)
{
    struct session_subject subject = {.data = simplify,
                                      .ops = &greedy_search_ops,
                                      .search = &simplify->search,
                                      .suffix = simplify->suffix.data,
                                      .saving = SAVING,
                                      .may_be_kept = true,
                                      .identify = identify_trial,
                                      .write = write_trial,
                                      .release = release_changed};
    int rc = 0;

    if (greedy_search_start(&simplify->search, simplify->parts.alternatives, simplify->parts.count)) {
        rc = session_search(simplify->session, &subject, err);
        if (rc == 0)
            rc = keep_result(simplify, err);
    } else {
        log_message(simplify->log, LOG_FINISH, "The model has no %s to simplify", simplify->kind->parts);
    }
    search_release(&greedy_search_ops, &simplify->search);
    forget_tried_models(simplify);
    return rc;
}

static void warn_of_model(const struct simplify *simplify)
{
    SCOPED_STRING(text);

    simplify->kind->warn(simplify->now.model, &text);
    if (text.size > 0)
        log_message(simplify->log, LOG_WARNING, "%s", text.data);
}

static void release_parts(struct simplify_parts *parts)
{
    free(parts->alternatives);
    free(parts->weights.items);
    free(parts->attributes.items);
    free(parts->sizes.items);
    free(parts->decisions.items);
    free(parts->inner.items);
}

static int run_kind(struct simplify *simplify, const struct simplify_kind *kind, struct error *err)
{
    struct error why = {0};
    int rc;

    log_message(simplify->log, LOG_START, "%s", kind->title);
    simplify->kind = kind;
    simplify->parts = (struct simplify_parts){0};
    string_add_format(&simplify->suffix, "_%s", kind->suffix);
    rc = model_soundness(simplify->settings->sandbox, &simplify->now.whole, kind->changes_inputs, &simplify->soundness,
                         &why, err);
    if (rc < 0)
        return rc;
    if (simplify->soundness == SOUND_NOT_AT_ALL && kind->changes_types) {
        log_message(simplify->log, LOG_WARNING,
                    "Skipped: ONNX Runtime rejects the model, so it cannot validate a changed one: %s", why.message);
        return 0;
    }
    if (kind->survey(simplify->now.model, &simplify->parts, &why) == 0)
        rc = search_parts(simplify, err);
    else /* for instance missing external data, which is no reason to discard the result */
        log_message(simplify->log, LOG_WARNING, "Skipped: %s", why.message);
    release_parts(&simplify->parts);
    if (rc == 0 && kind->warn != NULL)
        warn_of_model(simplify);
    return rc;
}

/* ---- All of it ---- */

static int identify_result(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct simplify *simplify = data;

    (void)search, (void)err;
    ret->num_nodes = (int64_t)simplify->now.model->nodes.count;
    ret->has_identity = true;
    ret->identity = simplify->identity;
    return 0;
}

static int write_result(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                        struct error *err)
{
    const struct simplify *simplify = data;

    return write_model(simplify, &simplify->now.whole, candidate, paths, err);
}

static struct session_subject result_as_subject(struct simplify *simplify)
{
    return (struct session_subject){
        .data = simplify, .saving = SAVING, .may_be_kept = true, .identify = identify_result, .write = write_result};
}

/* With --flaky failures may have been accidental. */
static int look_again(struct simplify *simplify, struct error *err)
{
    struct session_subject subject = result_as_subject(simplify);
    enum verdict verdict;
    char *key SCOPED_FREE = NULL;
    int rc;

    string_add(&simplify->suffix, "_final");
    key = memory_strdup(simplify->suffix.data);
    rc = session_check(simplify->session, &subject,
                       (struct check_request){ROLE_REPETITION, key, "the simplified model"}, &verdict, err);
    if (rc == 0 && verdict != VERDICT_FAIL) {
        log_message(simplify->log, LOG_WARNING,
                    "The simplified model does not fail when re-checked: the model is left unchanged");
        simplify->changed = false;
    }
    return rc;
}

int simplify_run(const struct simplify_settings *settings, struct candidate_maker *maker, const struct subgraph *bad,
                 struct debug_session *session, struct simplified_model *ret, struct error *err)
{
    struct simplify simplify = {.settings = settings,
                                .maker = maker,
                                .bad = bad,
                                .session = session,
                                .log = maker->log,
                                .identity = subgraph_identity(bad)};
    struct subgraph filled, written;
    struct session_subject subject;
    struct known_types types;
    bool is_wanted = false;
    int rc;

    *ret = (struct simplified_model){0};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        is_wanted |= settings->kinds[i];
    if (!is_wanted)
        return 0;
    string_init(&simplify.suffix);
    string_add(&simplify.suffix, "simplify");
    if (settings->number > 1)
        string_add_format(&simplify.suffix, "_%zu", settings->number);
    subgraph_init_copy(&filled, bad);
    rc = candidate_prepare(maker, &filled, err);
    if (rc < 0)
        goto done;
    written = candidate_assume(maker, &filled, &types);
    rc = take_over(&simplify, &written, err);
    known_types_release(&types);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(kinds); i++)
        if (settings->kinds[i])
            rc = run_kind(&simplify, kinds[i], err);
    if (rc < 0)
        goto done;
    if (simplify.changed && session_state(session).is_flaky)
        rc = look_again(&simplify, err);
    if (rc < 0 || !simplify.changed)
        goto done;
    subject = result_as_subject(&simplify); /* it is written in the checked form */
    rc = belief_confirm(session, &subject, "the simplified model", VERDICT_FAIL, err);
    if (rc < 0)
        goto done;
    *ret = simplify.now;
    simplify.now = (struct simplified_model){0};
done:
    simplified_model_release(&simplify.now);
    subgraph_release(&filled);
    string_release(&simplify.suffix);
    return rc;
}
