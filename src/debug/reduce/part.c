/* debug/reduce/part.c: see part.h. */
#include "debug/reduce/part.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/belief/belief.h"

struct part_content {
    struct candidate_maker *maker;
    struct subgraph part;
    const struct external_settings *external;
};

/* ---- What the session asks ---- */

static int write_part(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                      struct error *err)
{
    struct part_content *content = candidate->content;
    int rc = candidate_prepare(content->maker, &content->part, err);

    (void)data;
    if (rc == 0)
        rc = candidate_write(content->maker, &content->part, paths, content->external, &candidate->file, err);
    candidate->has_file = rc == 0;
    return rc;
}

static void release_part(void *data)
{
    struct part_content *content = data;

    subgraph_release(&content->part);
    free(content);
}

static void look_ahead(void *data, bool begins)
{
    candidate_maker_look_ahead(*(struct candidate_maker **)data, begins);
}

struct session_subject part_subject(void *data, int (*identify)(void *data, const void *search,
                                                                struct candidate_description *ret, struct error *err))
{
    return (struct session_subject){.data = data,
                                    .saving = "Saving ONNX model to:",
                                    .may_be_kept = true,
                                    .identify = identify,
                                    .write = write_part,
                                    .release = release_part,
                                    .look_ahead = look_ahead};
}

/* With external data the file differs. */
static struct hash part_identity(const struct subgraph *part, const struct external_settings *external)
{
    struct hash identity = subgraph_identity(part);

    return external != NULL ? hash_combine(identity, hash_bytes("external", 8)) : identity;
}

void part_identify(struct candidate_maker *maker, struct subgraph *part, const struct external_settings *external,
                   struct candidate_description *ret)
{
    struct part_content *content = memory_alloc(sizeof(*content));

    *content = (struct part_content){maker, *part, external};
    ret->num_nodes = (int64_t)bitset_count(&part->nodes);
    ret->has_identity = true;
    ret->identity = part_identity(part, external);
    ret->content = content;
}

const struct subgraph *part_of(const struct candidate_description *candidate)
{
    return &((const struct part_content *)candidate->content)->part;
}

/* ---- Given parts ---- */

static int identify_given(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct given_part *given = data;
    uint32_t not_a_tensor;
    struct subgraph part;

    (void)search;
    subgraph_init_copy(&part, given->part);
    part_identify(given->maker, &part, given->external, ret);
    if (given->data != NULL)
        ret->identity = hash_combine(ret->identity, *given->data);
    return candidate_complete(given->maker, &((struct part_content *)ret->content)->part, &not_a_tensor, err);
}

int given_part_check(struct given_part *given, struct check_request request, enum verdict *ret, struct error *err)
{
    struct session_subject subject = part_subject(given, identify_given);
    int rc;

    if (given->external != NULL)
        candidate_files_claim_own_data(given->files);
    rc = session_check(given->session, &subject, request, ret, err);
    if (given->external != NULL)
        candidate_files_drop_own_data(given->files);
    return rc;
}

int given_part_confirm(struct given_part *given, const char *what, enum verdict expected, struct error *err)
{
    struct session_subject subject = part_subject(given, identify_given);
    int rc;

    /* No candidate is written after this, but perhaps the result. */
    candidate_files_claim_own_data(given->files);
    rc = belief_confirm(given->session, &subject, what, expected, err);
    candidate_files_drop_own_data(given->files);
    return rc;
}

int given_part_confirm_known(struct given_part *given, const char *what, enum verdict expected, struct error *err)
{
    return session_has_run(given->session, part_identity(given->part, given->external))
               ? 0
               : given_part_confirm(given, what, expected, err);
}
