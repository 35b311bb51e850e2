/* cli/inspect/diff_tactics_json.c: see diff_tactics_json.h. */
#include "cli/inspect/diff_tactics_json.h"

#include "debug/tactics/pair.h"

static void write_builds(struct json_writer *writer, const char *key, const struct tactic_builds *builds)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < builds->count; i++)
        json_writer_string(writer, builds->items[i].path);
    json_writer_end_array(writer);
}

static void write_layer_only_in_bad(struct json_writer *writer, const struct tactic_diff *diff,
                                    const struct tactic_layer *layer)
{
    bool open = false;

    for (size_t i = 0; i < layer->tactics.count; i++) {
        size_t tactic = layer->tactics.items[i];

        if (!tactic_diff_only_in_bad(diff, tactic))
            continue;
        if (!open) {
            json_writer_begin_object(writer);
            json_writer_add_string(writer, "layer", layer->name);
            json_writer_begin_array_member(writer, "algorithms");
            open = true;
        }
        tactic_algorithm_write(diff->tactics.items[tactic].algorithm, writer);
    }
    if (open) {
        json_writer_end_array(writer);
        json_writer_end_object(writer);
    }
}

static void write_tactic(struct json_writer *writer, const struct tactic_diff *diff, const struct seen_tactic *tactic)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "layer", diff->layers.items[tactic->layer].name);
    json_writer_key(writer, "algorithm");
    tactic_algorithm_write(tactic->algorithm, writer);
    json_writer_end_object(writer);
}

static void write_pool(struct json_writer *writer, const struct tactic_diff *diff, const struct tactic_pool *pool)
{
    static const char *const scopes[] = {
        [POOL_IMPLEMENTATION] = "implementation", [POOL_TACTIC] = "tactic", [POOL_TENSORS] = "tensors"};
    SCOPED_STRING(name);

    tactic_pool_name(diff, pool, &name);
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "kernel", name.data);
    json_writer_add_string(writer, "scope", scopes[pool->scope]);
    json_writer_begin_array_member(writer, "layers");
    for (size_t i = 0; i < pool->layers.count; i++)
        json_writer_string(writer, diff->layers.items[pool->layers.items[i]].name);
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "tactics");
    for (size_t i = 0; i < pool->tactics.count; i++)
        write_tactic(writer, diff, &diff->tactics.items[pool->tactics.items[i]]);
    json_writer_end_array(writer);
    json_writer_end_object(writer);
}

/* The suspect's tactics, or its kernels. */
static void write_columns(struct json_writer *writer, const struct tactic_diff *diff,
                          const struct blame_suspect *suspect, bool pools)
{
    json_writer_begin_array(writer);
    for (size_t i = 0; i < suspect->column_count; i++) {
        size_t column = suspect->columns[i];
        const struct tactic_pool *pool = tactic_diff_pool(diff, column);

        if (pools && pool)
            write_pool(writer, diff, pool);
        else if (!pools && !pool)
            write_tactic(writer, diff, &diff->tactics.items[column]);
    }
    json_writer_end_array(writer);
}

static void write_suspect(struct json_writer *writer, const struct tactic_diff *diff,
                          const struct blame_suspect *suspect)
{
    json_writer_begin_object(writer);
    json_writer_add_number(writer, "probability", suspect->probability);
    json_writer_key(writer, "tactics");
    write_columns(writer, diff, suspect, false);
    json_writer_key(writer, "kernels");
    write_columns(writer, diff, suspect, true);
    json_writer_add_count(writer, "bad_with", suspect->association.failed_with);
    json_writer_add_count(writer, "good_with", suspect->association.passed_with);
    json_writer_add_count(writer, "bad_without", suspect->association.failed_without);
    json_writer_add_count(writer, "good_without", suspect->association.passed_without);
    json_writer_begin_object_member(writer, "failure_rate_difference");
    json_writer_add_number(writer, "value", suspect->difference.value);
    json_writer_add_number(writer, "low", suspect->difference.low);
    json_writer_add_number(writer, "high", suspect->difference.high);
    json_writer_end_object(writer);
    json_writer_add_number(writer, "ochiai", suspect->ochiai);
    json_writer_add_number(writer, "fisher_p", suspect->fisher);
    json_writer_add_number(writer, "holm_p", suspect->holm);
    json_writer_end_object(writer);
}

static void write_pair(struct json_writer *writer, const struct tactic_diff *diff)
{
    struct tactic_pair pair;

    if (!json_writer_begin_object_or_null(
            writer, "pair",
            diff->blame.count > 0 && tactic_pair_choose_for(diff, diff->blame.items[0].columns[0], &pair, NULL) >= 0))
        return;
    json_writer_add_string(writer, "good", pair.good->path);
    json_writer_add_string(writer, "bad", pair.bad->path);
    json_writer_end_object(writer);
}

static void write_ranking(struct json_writer *writer, const struct tactic_diff *diff)
{
    const struct blame *blame = &diff->blame;

    json_writer_begin_object(writer);
    json_writer_begin_array_member(writer, "suspects");
    for (size_t i = 0; i < blame->count; i++)
        write_suspect(writer, diff, &blame->items[i]);
    json_writer_end_array(writer);
    json_writer_add_number(writer, "no_culprit", blame->no_culprit);
    json_writer_add_count(writer, "layers", blame->layer_count);
    json_writer_add_count(writer, "fixed_layers", blame->fixed_layer_count);
    json_writer_add_count(writer, "varying_tactics", blame->varying_count);
    json_writer_add_count(writer, "varying_kernels", blame->pool_count);
    json_writer_add_count(writer, "distinct_tactics", blame->distinct_count);
    if (json_writer_key_or_null(writer, "more_builds", blame->more_builds >= 0))
        json_writer_integer(writer, blame->more_builds);
    write_pair(writer, diff);
    json_writer_end_object(writer);
}

int tactic_diff_save(const struct tactic_diff *diff, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    write_builds(&writer, "good", &diff->good);
    write_builds(&writer, "bad", &diff->bad);
    json_writer_begin_array_member(&writer, "only_in_bad");
    for (size_t i = 0; i < diff->layers.count; i++)
        write_layer_only_in_bad(&writer, diff, &diff->layers.items[i]);
    json_writer_end_array(&writer);
    if (json_writer_key_or_null(&writer, "ranking", tactic_diff_is_ranked(diff)))
        write_ranking(&writer, diff);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}
