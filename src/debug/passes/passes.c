/* debug/passes/passes.c: see passes.h. */
#include "debug/passes/passes.h"

#include "debug/belief/belief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/experiment/experiment.h"
#include "onnx/model/mark_outputs.h"
#include "search/sets/set_isolation.h"

/* With more optimizations than this, those of a kind are first treated as one. */
#define MOST_SINGLE 16

/* After this many rounds that found places, whole kinds are used: they are wrong in most of their places. */
#define MOST_ROUNDS_OF_PLACES 4

#define UNIT_NONE UINT32_MAX

struct passes_search {
    struct words decisions;
    struct log *log;
    struct passes_result *result;
    struct experiment experiment;   /* over optimizations: a candidate is the set of disabled ones */
    struct bitset off;              /* of the candidate that was created last */
    uint32_t *kinds;                /* for each optimization: the first one of its kind */
    struct set_isolation isolation; /* over units: single optimizations, or kinds */
    uint32_t *units;                /* for each optimization: its unit in the search; UNIT_NONE: it stays disabled */
    size_t unit_count;
    struct bitset whole; /* optimizations that were found as a whole kind */
    const char *phase;   /* beginning of all keys */
    char key[64];        /* see set_key() */
};

/* The key of a verdict, valid until the next call. */
static const char *set_key(struct passes_search *passes, const char *name, size_t number)
{
    snprintf(passes->key, sizeof(passes->key), number > 0 ? "%s%s%zu" : "%s%s", passes->phase, name, number);
    return passes->key;
}

/* ---- Candidates ---- */

static void add_names(const struct passes_search *passes, const struct bitset *off, struct string_builder *ret)
{
    string_add(ret, "");
    BITSET_EACH (i, off)
        string_add_format(ret, "%s\n", passes->decisions.items[i]);
}

static struct hash hash_names(void *data, const struct bitset *off)
{
    struct string_builder names SCOPED(string_release) = {0};

    string_init(&names);
    add_names(data, off, &names);
    return hash_bytes(names.data, names.size);
}

/* The search chooses enabled optimizations; those found in earlier rounds stay disabled. */
static void choose_off(void *data, const void *search, struct bitset *ret)
{
    const struct passes_search *passes = data;
    const struct bitset *on = &((const struct set_isolation *)search)->candidate;

    bitset_fill(ret);
    for (size_t i = 0; i < passes->decisions.count; i++)
        if (passes->units[i] != UNIT_NONE && bitset_has(on, passes->units[i]))
            bitset_remove(ret, i);
}

static void announce_off(void *data, const void *search, const struct bitset *off)
{
    (void)search;
    log_message(((const struct passes_search *)data)->log, LOG_INFO, "Disabling %zu of %zu", bitset_count(off),
                off->size);
}

static int make_list(void *data, const struct bitset *off, struct error *err)
{
    (void)err;
    bitset_assign(&((struct passes_search *)data)->off, off);
    return 0;
}

static int save_list(void *data, const char *path, struct error *err)
{
    const struct passes_search *passes = data;
    struct string_builder names SCOPED(string_release) = {0};

    string_init(&names);
    add_names(passes, &passes->off, &names);
    return file_write(path, names.data, names.size, FILE_INTERMEDIATE, err);
}

/* ---- Apart from the search ---- */

/* Ends the search if an end has an unexpected verdict. */
static int conclude_from_end(struct passes_search *passes, const struct bitset *off, enum verdict verdict,
                             struct error *err)
{
    bool all_off = bitset_count(off) > 0;

    if (verdict == VERDICT_SKIP)
        return belief_refuse_check(
            passes->experiment.session, err,
            "the check is inconclusive for the model with all optimizations %s, so the search cannot start. Last run",
            all_off ? "disabled" : "enabled");
    passes->result->outcome = all_off ? PASSES_ALL_OFF_FAILS : PASSES_NONE_OFF_PASSES;
    return experiment_confirm(&passes->experiment, off,
                              all_off ? "the model with all optimizations disabled"
                                      : "the model with all optimizations enabled",
                              verdict, err);
}

static int check_end(struct passes_search *passes, const struct bitset *off, struct error *err)
{
    bool all_off = bitset_count(off) > 0;
    const struct check_request request = {all_off ? ROLE_GOOD_END : ROLE_BAD_END,
                                          set_key(passes, all_off ? "_all_off" : "_none_off", 0),
                                          all_off ? "all optimizations disabled" : "all optimizations enabled"};
    enum verdict verdict;
    int rc = experiment_check(&passes->experiment, off, request, &verdict, err);

    return rc < 0 || verdict == (all_off ? VERDICT_PASS : VERDICT_FAIL) ? rc
                                                                        : conclude_from_end(passes, off, verdict, err);
}

/* The search needs an end that passes and one that fails. */
static int check_ends(struct passes_search *passes, struct error *err)
{
    struct bitset off;
    int rc;

    bitset_init(&off, passes->decisions.count);
    bitset_fill(&off);
    rc = check_end(passes, &off, err);
    bitset_clear(&off);
    if (rc == 0 && passes->result->outcome == PASSES_FOUND)
        rc = check_end(passes, &off, err);
    bitset_release(&off);
    return rc;
}

/* ---- Rounds ---- */

/* The part of a name that optimizations of one kind share. */
static struct text kind_of(const char *name)
{
    size_t barrier = sizeof(BARRIER_PREFIX) - 1;

    return (struct text){name, strncmp(name, BARRIER_PREFIX, barrier) == 0 ? barrier : strcspn(name, "@")};
}

static void find_kinds(struct passes_search *passes)
{
    struct name_map map SCOPED(name_map_release) = {0};

    name_map_init(&map);
    for (uint32_t i = 0; i < passes->decisions.count; i++)
        passes->kinds[i] = name_map_add(&map, kind_of(passes->decisions.items[i]), i);
}

/* Makes units of the optimizations in a set that no earlier round has found, single or by kind. */
static void make_units(struct passes_search *passes, const struct bitset *among, bool by_kind)
{
    uint32_t *unit_of = memory_alloc_zero(passes->decisions.count + 1, sizeof(*unit_of));

    passes->unit_count = 0;
    for (size_t i = 0; i < passes->decisions.count; i++)
        unit_of[i] = passes->units[i] = UNIT_NONE;
    for (size_t i = 0; i < passes->decisions.count; i++) {
        size_t leader = by_kind ? passes->kinds[i] : i;

        if (bitset_has(&passes->result->off, i) || !bitset_has(among, i))
            continue;
        if (unit_of[leader] == UNIT_NONE)
            unit_of[leader] = (uint32_t)passes->unit_count++;
        passes->units[i] = unit_of[leader];
    }
    free(unit_of);
}

/* Finds units that fail with all others disabled, into `found`, which stays empty if the search ends early. `*ret`: the
 * verdict with these and those of earlier rounds disabled. */
static int isolate_units(struct passes_search *passes, const char *suffix, struct bitset *found, enum verdict *ret,
                         struct error *err)
{
    const struct experiment_search search = {.ops = &set_isolation_ops,
                                             .search = &passes->isolation,
                                             .suffix = suffix,
                                             .choose = choose_off,
                                             .announce = announce_off};
    int rc = 0;

    *ret = VERDICT_SKIP;
    if (set_isolation_start(&passes->isolation, passes->unit_count))
        rc = experiment_run(&passes->experiment, &search, err);
    if (rc == 0 && passes->isolation.phase == ISOLATION_DONE) {
        for (size_t i = 0; i < passes->decisions.count; i++)
            if (passes->units[i] != UNIT_NONE && bitset_has(&passes->isolation.found, passes->units[i]))
                bitset_add(found, i);
        *ret = passes->isolation.without;
    }
    search_release(&set_isolation_ops, &passes->isolation);
    return rc;
}

/* Replaces kinds that fail with all others disabled in `found` by the single optimizations that do. `*ret`: the verdict
 * with only these and those of earlier rounds disabled. */
static int isolate_places(struct passes_search *passes, size_t round, struct bitset *found, enum verdict *ret,
                          struct error *err)
{
    struct bitset places SCOPED(bitset_release) = {0}, off;
    int rc;

    make_units(passes, found, false);
    if (passes->unit_count == 1)
        return 0;
    log_message(passes->log, LOG_INFO,
                "Kinds of optimizations found; searching among %zu single optimizations of these kinds",
                passes->unit_count);
    bitset_init(&places, passes->decisions.count);
    rc = isolate_units(passes, set_key(passes, "places", round), &places, ret, err);
    if (rc < 0 || bitset_count(&places) == 0)
        return rc;
    bitset_clear(found);
    bitset_unite(found, &places);
    bitset_init_copy(&off, &passes->result->off);
    bitset_unite(&off, found);
    rc = experiment_check(
        &passes->experiment, &off,
        (struct check_request){ROLE_CANDIDATE, set_key(passes, "_without_places", round), "culprits disabled"}, ret,
        err);
    bitset_release(&off);
    return rc;
}

/* Finds one set of culprits, which fails with all others disabled. `*ret`: the verdict with these and those of earlier
 * rounds disabled; VERDICT_SKIP also if the search ends early. */
static int find_culprits(struct passes_search *passes, size_t round, enum verdict *ret, struct error *err)
{
    bool by_kind = passes->decisions.count > MOST_SINGLE, places = round <= MOST_ROUNDS_OF_PLACES;
    bool is_first = round == 1 && passes->phase[0] == '\0';
    struct bitset found SCOPED(bitset_release) = {0}, all SCOPED(bitset_release) = {0};
    int rc;

    bitset_init(&all, passes->decisions.count);
    bitset_init(&found, passes->decisions.count);
    bitset_fill(&all);
    make_units(passes, &all, by_kind);
    rc = isolate_units(passes, is_first ? NULL : set_key(passes, "round", round), &found, ret, err);
    if (rc == 0 && by_kind && places && bitset_count(&found) > 0)
        rc = isolate_places(passes, round, &found, ret, err);
    if (rc == 0 && bitset_count(&found) > 0) {
        struct bitset *culprits = VECTOR_APPEND(&passes->result->culprits);

        bitset_init_copy(culprits, &found);
        bitset_unite(&passes->result->off, &found);
        if (by_kind && !places)
            bitset_unite(&passes->whole, &found);
    }
    return rc;
}

/* Enables an optimization, with others of its kind that were found with it. False: an earlier one of its kind has done
 * so. */
static bool enable_with_kind(const struct passes_search *passes, size_t decision, struct bitset *off)
{
    bitset_remove(off, decision);
    if (!bitset_has(&passes->whole, decision))
        return true;
    BITSET_EACH (i, &passes->whole) {
        if (passes->kinds[i] == passes->kinds[decision] && i < decision && bitset_has(off, i))
            return false;
        if (passes->kinds[i] == passes->kinds[decision])
            bitset_remove(off, i);
    }
    return true;
}

/* Of optimizations that only fail together, disabling one may be enough. Each disabled one is enabled again, and stays
 * enabled if the check passes; then the others are tried again, as their verdicts were about a larger set. */
static int enable_unnecessary(struct passes_search *passes, struct error *err)
{
    struct passes_result *result = passes->result;
    size_t number = 0, i = bitset_next(&result->off, 0);

    result->is_minimal = bitset_count(&passes->whole) == 0; /* optimizations found by kind are enabled by kind */
    while (bitset_count(&result->off) > 1 && i < result->off.size) {
        struct string_builder what;
        struct bitset off;
        enum verdict verdict;
        int rc;

        bitset_init_copy(&off, &result->off);
        if (!enable_with_kind(passes, i, &off) || bitset_count(&off) == 0) {
            bitset_release(&off);
            i = bitset_next(&result->off, i + 1);
            continue;
        }
        string_init(&what);
        string_add_format(&what, "culprits disabled, without %s%s", passes->decisions.items[i],
                          bitset_has(&passes->whole, i) ? " and others of its kind" : "");
        rc = experiment_check(&passes->experiment, &off,
                              (struct check_request){ROLE_CANDIDATE, set_key(passes, "_on_", ++number), what.data},
                              &verdict, err);
        string_release(&what);
        if (rc == 0 && verdict == VERDICT_PASS)
            bitset_intersect(&result->off, &off);
        bitset_release(&off);
        if (rc < 0)
            return rc;
        result->is_minimal = verdict == VERDICT_PASS || (result->is_minimal && verdict == VERDICT_FAIL);
        i = bitset_next(&result->off, verdict == VERDICT_PASS ? 0 : i + 1);
    }
    return 0;
}

/* Confirms that these fail with all others disabled. */
static int confirm_culprits(struct passes_search *passes, const struct bitset *culprits, struct error *err)
{
    struct string_builder what SCOPED(string_release) = {0};
    struct bitset off SCOPED(bitset_release) = {0};

    bitset_init(&off, passes->decisions.count);
    bitset_fill(&off);
    bitset_subtract(&off, culprits);
    string_init(&what);
    string_add_format(&what, "the model with all but '%s'%s disabled",
                      passes->decisions.items[bitset_next(culprits, 0)],
                      bitset_count(culprits) > 1 ? " and others" : "");
    return experiment_confirm(&passes->experiment, &off, what.data, VERDICT_FAIL, err);
}

/* Confirms both directions of the answer if they were found. */
static int confirm_answer(struct passes_search *passes, struct error *err)
{
    const struct passes_result *result = passes->result;
    int rc = 0;

    if (result->outcome == PASSES_FOUND)
        rc = experiment_confirm(&passes->experiment, &result->off, "the model with the culprits disabled", VERDICT_PASS,
                                err);
    for (size_t i = 0; rc == 0 && i < result->culprits.count; i++)
        rc = confirm_culprits(passes, &result->culprits.items[i], err);
    return rc;
}

/* Checks an optimization as the only disabled one, and keeps it if the check passes, twice. */
static int try_single(struct passes_search *passes, size_t decision, struct error *err)
{
    const struct check_request request = {ROLE_CANDIDATE, set_key(passes, "_single_", decision + 1),
                                          "another single optimization disabled"};
    enum verdict verdict;
    SCOPED_BITSET(off);
    int rc;

    bitset_init(&off, passes->decisions.count);
    bitset_add(&off, decision);
    rc = experiment_check(&passes->experiment, &off, request, &verdict, err);
    if (rc < 0 || verdict != VERDICT_PASS)
        return rc;
    bitset_add(&passes->result->singles, decision);
    return experiment_confirm(&passes->experiment, &off, request.what, VERDICT_PASS, err);
}

/* Of optimizations that only fail together, any one may be enough. One that is enough belongs to each set of culprits,
 * which fail with all others disabled. */
static int find_singles(struct passes_search *passes, struct error *err)
{
    struct passes_result *result = passes->result;
    SCOPED_BITSET(among);
    int rc = 0;

    if (result->outcome != PASSES_FOUND || bitset_count(&result->off) != 1)
        return 0;
    bitset_init_copy(&among, &result->culprits.items[0]);
    for (size_t i = 1; i < result->culprits.count; i++)
        bitset_intersect(&among, &result->culprits.items[i]);
    bitset_subtract(&among, &result->off);
    bitset_unite(&result->singles, &result->off);
    for (size_t i = bitset_next(&among, 0); rc == 0 && i < among.size && bitset_count(&among) <= MOST_SINGLE;
         i = bitset_next(&among, i + 1))
        rc = try_single(passes, i, err);
    return rc;
}

static int run_rounds(struct passes_search *passes, struct error *err)
{
    enum verdict without = VERDICT_FAIL;
    int rc = check_ends(passes, err);

    if (rc < 0 || passes->result->outcome != PASSES_FOUND)
        return rc;
    for (size_t round = 1; without == VERDICT_FAIL; round++) {
        rc = find_culprits(passes, round, &without, err);
        if (rc < 0)
            return rc;
    }
    if (without == VERDICT_PASS)
        rc = enable_unnecessary(passes, err);
    else
        passes->result->outcome = PASSES_UNDECIDED;
    if (rc == 0)
        rc = confirm_answer(passes, err);
    return rc == 0 ? find_singles(passes, err) : rc;
}

int passes_run(struct words decisions, const char *phase, struct debug_session *session, struct log *log,
               struct passes_result *ret, struct error *err)
{
    struct passes_search passes = {.decisions = decisions, .phase = phase, .log = log, .result = ret};
    const struct experiment_items items = {.data = &passes,
                                           .count = decisions.count,
                                           .kind = "list",
                                           .expectation = EXPECT_BOUNDARY,
                                           .confirms_always = true,
                                           .identify = hash_names,
                                           .make = make_list,
                                           .save = save_list};
    int rc;

    *ret = (struct passes_result){.outcome = PASSES_FOUND};
    bitset_init(&ret->off, decisions.count);
    bitset_init(&ret->singles, decisions.count);
    passes.experiment = (struct experiment){.items = &items, .session = session, .log = log};
    bitset_init(&passes.whole, decisions.count);
    bitset_init(&passes.off, decisions.count);
    passes.kinds = memory_alloc_zero(decisions.count + 1, sizeof(*passes.kinds));
    passes.units = memory_alloc_zero(decisions.count + 1, sizeof(*passes.units));
    find_kinds(&passes);
    rc = run_rounds(&passes, err);
    bitset_release(&passes.whole);
    bitset_release(&passes.off);
    free(passes.kinds);
    free(passes.units);
    return rc;
}

void passes_result_release(struct passes_result *result)
{
    for (size_t i = 0; i < result->culprits.count; i++)
        bitset_release(&result->culprits.items[i]);
    free(result->culprits.items);
    bitset_release(&result->off);
    bitset_release(&result->singles);
}
