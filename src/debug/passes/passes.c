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

/* Without a check that passes and one that fails, there is nothing between them. */
static int check_ends(struct hunt *hunt, struct loop *loop, struct error *err)
{
    enum verdict verdict;
    int rc = check_end(hunt, loop, true, false, &verdict, err);

    if (rc < 0)
        return rc;
    if (verdict != VERDICT_PASS) {
        hunt->result->outcome = PASSES_ALL_OFF_FAILS;
        return 0;
    }
    rc = check_end(hunt, loop, false, false, &verdict, err);
    if (rc < 0 || verdict == VERDICT_FAIL)
        return rc;
    hunt->result->outcome = PASSES_NONE_OFF_PASSES;
    return 0;
}

/* ---- Rounds ---- */

static void list_open(struct hunt *hunt)
{
    hunt->open.count = 0;
    for (uint32_t i = 0; i < hunt->decisions.count; i++)
        if (!bitset_has(&hunt->result->off, i))
            *VECTOR_APPEND(&hunt->open) = i;
}

/* One set of culprits: they fail with all others off. `*ret_enough`: with them off it passes. */
static int isolate(struct hunt *hunt, struct loop *loop, const char *suffix, bool *ret_enough, struct error *err)
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

    list_open(hunt);
    if (set_isolation_start(&hunt->search, hunt->open.count))
        rc = loop_run(loop, &subject, err);
    if (rc == 0) {
        culprits = VECTOR_APPEND(&hunt->result->culprits);
        bitset_init(culprits, hunt->decisions.count);
        for (size_t i = 0; i < hunt->open.count; i++)
            if (bitset_has(&hunt->search.found, i))
                bitset_add(culprits, hunt->open.items[i]);
        bitset_unite(&hunt->result->off, culprits);
        *ret_enough = hunt->search.necessary;
    }
    set_isolation_ops.release(&hunt->search);
    return rc;
}

/* Of decisions that only fail together, one that is off may be enough. Each that is off is switched on again, and stays
 * on where the check passes. */
static int leave_on_what_can_be(struct hunt *hunt, struct loop *loop, struct error *err)
{
    struct passes_result *result = hunt->result;

    result->is_minimal = true;
    for (size_t i = bitset_next(&result->off, 0); bitset_count(&result->off) > 1 && i < result->off.size;
         i = bitset_next(&result->off, i + 1)) {
        struct given_list given = {.expectation = EXPECT_BOUNDARY};
        struct loop_subject subject = given_subject(hunt, &given);
        struct string_builder what;
        char key[64];
        enum verdict verdict;
        int rc;

        snprintf(key, sizeof(key), "_on_%zu", i);
        string_init(&what);
        string_add_format(&what, "what was found, without %s", hunt->decisions.items[i]);
        bitset_init_copy(&given.off, &result->off);
        bitset_remove(&given.off, i);
        rc = loop_check_apart(loop, &subject, key, what.data, &verdict, err);
        bitset_release(&given.off);
        string_release(&what);
        if (rc < 0)
            return rc;
        if (verdict == VERDICT_PASS)
            bitset_remove(&result->off, i);
        result->is_minimal = result->is_minimal && verdict != VERDICT_SKIP;
    }
    return 0;
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
    const struct loop_ends ends = {
        .data = &end, .good = "with all of them off", .bad = "with none of them off", .check_again = check_end_again};
    bool is_enough = false;
    int rc = check_ends(hunt, loop, err);

    if (rc < 0 || hunt->result->outcome != PASSES_FOUND)
        return rc;
    for (size_t round = 1; !is_enough && bitset_count(&hunt->result->off) < hunt->decisions.count; round++) {
        char suffix[32];

        snprintf(suffix, sizeof(suffix), "round%zu", round);
        rc = isolate(hunt, loop, round > 1 ? suffix : NULL, &is_enough, err);
        if (rc < 0)
            return rc;
    }
    rc = leave_on_what_can_be(hunt, loop, err);
    return rc == 0 ? loop_look_back(loop, &ends, err) : rc;
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
