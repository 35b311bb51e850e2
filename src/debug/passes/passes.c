/* debug/passes/passes.c: see passes.h. */
#include "debug/passes/passes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "search/set_isolation.h"

struct hunt {
    struct words decisions;
    struct log *log;
    struct passes_result *result;
    struct set_isolation search; /* over `open` */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } open; /* decisions that no earlier round has found */
};

/* A candidate apart from a search, in place of its state. */
struct given_list {
    struct bitset off;
    enum expectation expectation;
};

/* ---- Candidates ---- */

static void add_names(const struct hunt *hunt, const struct bitset *off, struct string_builder *ret)
{
    string_add(ret, "");
    for (size_t i = bitset_next(off, 0); i < off->size; i = bitset_next(off, i + 1))
        string_add_format(ret, "%s\n", hunt->decisions.items[i]);
}

static struct loop_candidate describe_list(const struct hunt *hunt, const struct bitset *off,
                                           enum expectation expectation)
{
    struct loop_candidate ret = {
        .action = CANDIDATE_CHECK, .num_nodes = -1, .has_identity = true, .expectation = expectation};
    struct string_builder names;

    string_init(&names);
    add_names(hunt, off, &names);
    ret.identity = hash_bytes(names.data, names.size);
    string_release(&names);
    return ret;
}

/* The search has decisions that are on; those of earlier rounds stay off. */
static void take_off(const struct hunt *hunt, const struct set_isolation *search, struct bitset *ret)
{
    bitset_init(ret, hunt->decisions.count);
    bitset_fill(ret);
    for (size_t i = 0; i < hunt->open.count; i++)
        if (bitset_has(&search->candidate, i))
            bitset_remove(ret, hunt->open.items[i]);
}

static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    const struct hunt *hunt = data;
    struct bitset off;

    (void)err;
    take_off(hunt, search, &off);
    *ret = describe_list(hunt, &off, EXPECT_BOUNDARY);
    if (turn == CANDIDATE_NOW)
        log_message(hunt->log, LOG_INFO, "Switching off %zu of %zu", bitset_count(&off), off.size);
    bitset_release(&off);
    return 0;
}

static int describe_given(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                          struct error *err)
{
    const struct given_list *given = search;

    (void)turn, (void)err;
    *ret = describe_list(data, &given->off, given->expectation);
    return 0;
}

static int write_list(const struct hunt *hunt, const struct bitset *off, const char *path, struct error *err)
{
    struct string_builder names;
    int rc;

    string_init(&names);
    add_names(hunt, off, &names);
    rc = file_write(path, names.data, names.size, FILE_INTERMEDIATE, err);
    string_release(&names);
    return rc;
}

static int write(void *data, const void *search, enum candidate_turn turn, const struct candidate_paths *paths,
                 struct error *err)
{
    struct bitset off;
    int rc;

    (void)turn;
    take_off(data, search, &off);
    rc = write_list(data, &off, paths->items[CANDIDATE_ARTIFACT], err);
    bitset_release(&off);
    return rc;
}

static int write_given(void *data, const void *search, enum candidate_turn turn, const struct candidate_paths *paths,
                       struct error *err)
{
    (void)turn;
    return write_list(data, &((const struct given_list *)search)->off, paths->items[CANDIDATE_ARTIFACT], err);
}

static struct loop_subject given_subject(struct hunt *hunt, struct given_list *given)
{
    return (struct loop_subject){
        .data = hunt, .search = given, .kind = "list", .describe = describe_given, .write = write_given};
}

/* ---- Apart from the search ---- */

static int check_end(struct hunt *hunt, struct loop *loop, bool all_off, bool again, enum verdict *ret,
                     struct error *err)
{
    struct given_list given = {.expectation = again ? EXPECT_AGAIN : all_off ? EXPECT_PASS : EXPECT_FAILURE};
    struct loop_subject subject = given_subject(hunt, &given);
    const char *what = all_off ? "everything switched off" : "nothing switched off";
    int rc;

    bitset_init(&given.off, hunt->decisions.count);
    if (all_off)
        bitset_fill(&given.off);
    if (again)
        rc = loop_check_control(loop, &subject, all_off ? "_all_off_once_more" : "_none_off_once_more", what, ret, err);
    else
        rc = loop_check_apart(loop, &subject, all_off ? "_all_off" : "_none_off", what, ret, err);
    bitset_release(&given.off);
    return rc;
}

/* The answer rests on what the check said of this list. If that is known from a debug replay or a verdict cache, it is
 * checked now. */
static int confirm(struct hunt *hunt, struct loop *loop, const struct bitset *off, const char *what,
                   enum verdict expected, struct error *err)
{
    struct given_list given = {*off, EXPECT_AGAIN};
    struct loop_subject subject = given_subject(hunt, &given);
    struct hash identity = describe_list(hunt, off, EXPECT_AGAIN).identity;
    enum verdict known;

    return loop_has_seen(loop, identity, &known) && known == expected && !loop_has_run(loop, identity)
               ? loop_confirm(loop, &subject, what, expected, err)
               : 0;
}

/* There is nothing to look for when an end has not the verdict that it should have. */
static int conclude_from_end(struct hunt *hunt, struct loop *loop, bool all_off, enum verdict verdict,
                             struct error *err)
{
    struct bitset off;
    int rc;

    if (verdict == VERDICT_SKIP)
        return loop_refuse_check(loop, err,
                                 "the check says nothing about the model with %s switched off, so there is nothing to "
                                 "go by",
                                 all_off ? "everything" : "nothing");
    hunt->result->outcome = all_off ? PASSES_ALL_OFF_FAILS : PASSES_NONE_OFF_PASSES;
    bitset_init(&off, hunt->decisions.count);
    if (all_off)
        bitset_fill(&off);
    rc = confirm(hunt, loop, &off, all_off ? "the model with everything switched off" : "the model", verdict, err);
    bitset_release(&off);
    return rc;
}

/* Without a check that passes and one that fails, there is nothing between them. */
static int check_ends(struct hunt *hunt, struct loop *loop, struct error *err)
{
    enum verdict verdict;
    int rc = check_end(hunt, loop, true, false, &verdict, err);

    if (rc < 0)
        return rc;
    if (verdict != VERDICT_PASS)
        return conclude_from_end(hunt, loop, true, verdict, err);
    rc = check_end(hunt, loop, false, false, &verdict, err);
    return rc < 0 || verdict == VERDICT_FAIL ? rc : conclude_from_end(hunt, loop, false, verdict, err);
}

/* ---- Rounds ---- */

static void list_open(struct hunt *hunt)
{
    hunt->open.count = 0;
    for (uint32_t i = 0; i < hunt->decisions.count; i++)
        if (!bitset_has(&hunt->result->off, i))
            *VECTOR_APPEND(&hunt->open) = i;
}

/* One set of culprits: they fail with all others off. `*ret`: what was seen with them off, and those of earlier rounds;
 * VERDICT_SKIP also when the search has ended before its time. */
static int isolate(struct hunt *hunt, struct loop *loop, const char *suffix, enum verdict *ret, struct error *err)
{
    struct loop_subject subject = {.data = hunt,
                                   .ops = &set_isolation_ops,
                                   .search = &hunt->search,
                                   .suffix = suffix,
                                   .kind = "list",
                                   .describe = describe,
                                   .write = write};
    struct bitset *culprits;
    int rc = 0;

    *ret = VERDICT_SKIP;
    list_open(hunt);
    if (set_isolation_start(&hunt->search, hunt->open.count))
        rc = loop_run(loop, &subject, err);
    if (rc == 0 && hunt->search.phase == ISOLATION_DONE) {
        culprits = VECTOR_APPEND(&hunt->result->culprits);
        bitset_init(culprits, hunt->decisions.count);
        for (size_t i = 0; i < hunt->open.count; i++)
            if (bitset_has(&hunt->search.found, i))
                bitset_add(culprits, hunt->open.items[i]);
        bitset_unite(&hunt->result->off, culprits);
        *ret = hunt->search.without;
    }
    set_isolation_ops.release(&hunt->search);
    return rc;
}

/* Of decisions that only fail together, one that is off may be enough. Each that is off is switched on again, and stays
 * on where the check passes; then the others are tried again, as what was seen of them was said of a larger set. */
static int leave_on_what_can_be(struct hunt *hunt, struct loop *loop, struct error *err)
{
    struct passes_result *result = hunt->result;
    size_t number = 0, i = bitset_next(&result->off, 0);

    result->is_minimal = true;
    while (bitset_count(&result->off) > 1 && i < result->off.size) {
        struct given_list given = {.expectation = EXPECT_BOUNDARY};
        struct loop_subject subject = given_subject(hunt, &given);
        struct string_builder what;
        char key[64];
        enum verdict verdict;
        int rc;

        snprintf(key, sizeof(key), "_on_%zu", number++);
        string_init(&what);
        string_add_format(&what, "what was found, without %s", hunt->decisions.items[i]);
        bitset_init_copy(&given.off, &result->off);
        bitset_remove(&given.off, i);
        rc = loop_check_apart(loop, &subject, key, what.data, &verdict, err);
        bitset_release(&given.off);
        string_release(&what);
        if (rc < 0)
            return rc;
        result->is_minimal = verdict == VERDICT_PASS || (result->is_minimal && verdict == VERDICT_FAIL);
        if (verdict == VERDICT_PASS)
            bitset_remove(&result->off, i);
        i = bitset_next(&result->off, verdict == VERDICT_PASS ? 0 : i + 1);
    }
    return 0;
}

/* Both sides of the answer. */
static int confirm_answer(struct hunt *hunt, struct loop *loop, struct error *err)
{
    const struct passes_result *result = hunt->result;
    int rc = confirm(hunt, loop, &result->off, "the model with what was found switched off", VERDICT_PASS, err);

    for (size_t i = 0; rc == 0 && i < result->culprits.count; i++) {
        struct bitset others;

        bitset_init(&others, hunt->decisions.count);
        bitset_fill(&others);
        bitset_subtract(&others, &result->culprits.items[i]);
        rc = confirm(hunt, loop, &others, "the model with all else switched off", VERDICT_FAIL, err);
        bitset_release(&others);
    }
    return rc;
}

struct end_check {
    struct hunt *hunt;
    struct loop *loop;
};

static int check_end_again(void *data, bool bad, enum verdict *ret, struct error *err)
{
    const struct end_check *end = data;

    return check_end(end->hunt, end->loop, !bad, true, ret, err);
}

static int run_rounds(struct hunt *hunt, struct loop *loop, struct error *err)
{
    struct end_check end = {hunt, loop};
    const struct loop_ends ends = {.data = &end,
                                   .what = "the model",
                                   .good = "with everything switched off",
                                   .bad = "with nothing switched off",
                                   .check_again = check_end_again};
    enum verdict without = VERDICT_FAIL;
    int rc = check_ends(hunt, loop, err);

    if (rc < 0 || hunt->result->outcome != PASSES_FOUND)
        return rc;
    for (size_t round = 1; without == VERDICT_FAIL; round++) {
        char suffix[32];

        snprintf(suffix, sizeof(suffix), "round%zu", round);
        rc = isolate(hunt, loop, round > 1 ? suffix : NULL, &without, err);
        if (rc < 0)
            return rc;
    }
    if (without == VERDICT_PASS)
        rc = leave_on_what_can_be(hunt, loop, err);
    else
        hunt->result->outcome = PASSES_UNDECIDED;
    if (rc == 0)
        rc = loop_look_back(loop, &ends, err);
    return rc == 0 && without == VERDICT_PASS ? confirm_answer(hunt, loop, err) : rc;
}

int passes_run(struct words decisions, struct loop *loop, struct log *log, struct passes_result *ret, struct error *err)
{
    struct hunt hunt = {.decisions = decisions, .log = log, .result = ret};
    int rc;

    *ret = (struct passes_result){.outcome = PASSES_FOUND};
    bitset_init(&ret->off, decisions.count);
    rc = run_rounds(&hunt, loop, err);
    free(hunt.open.items);
    return rc;
}

void passes_result_release(struct passes_result *result)
{
    for (size_t i = 0; i < result->culprits.count; i++)
        bitset_release(&result->culprits.items[i]);
    free(result->culprits.items);
    bitset_release(&result->off);
}

int passes_hash_list(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err)
{
    int rc = hash_file(artifact, ret, err);

    for (; rc == 0 && more_files != NULL && *more_files != NULL; more_files++) {
        struct hash content;

        rc = hash_file(*more_files, &content, err);
        if (rc == 0)
            *ret = hash_combine(*ret, content);
    }
    return rc;
}
