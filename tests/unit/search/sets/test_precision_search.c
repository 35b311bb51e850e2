/* Which elements have to stay in high precision: Polygraphy's sequences, and what the minimal search promises. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "search/sets/precision_search.h"
#include "tensor/generate/mersenne_twister.h"

/* ---- Polygraphy's sequences ---- */

/* Goes on until the end, with a check that passes from `need` elements on: "8P(r4) 4P(r3) ... | 3", or "... | none". */
static void run_prefixes(enum precision_mode mode, size_t count, int64_t need, struct string_builder *ret)
{
    struct precision_search search;
    bool more;

    precision_search_start(&search, mode, count, false);
    do {
        int64_t next = search.next;
        bool passes = next >= need;

        assert_int_equal(bitset_count(&search.candidate), next);
        string_add_format(ret, "%s%lld%c(r%lld)", ret->size > 0 ? " " : "", (long long)next, passes ? 'P' : 'F',
                          (long long)precision_search_ops.remaining(&search));
        more = precision_search_ops.advance(&search, -1, passes ? VERDICT_PASS : VERDICT_FAIL);
        assert_int_equal(more, search.outcome == PRECISION_SEARCHING);
    } while (more);
    if (search.outcome == PRECISION_FOUND)
        string_add_format(ret, " | %zu", bitset_count(&search.candidate));
    else
        string_add(ret, " | none");
    search_release(&precision_search_ops, &search);
}

/* What Polygraphy's line should have ended with: with as many elements as pass at last. */
static void add_expected_end(struct string_builder *expected, const char *line, size_t count, int64_t need)
{
    const char *answer = strstr(line, "running the first ");

    if (answer != NULL)
        string_add_format(expected, " | %lld", strtoll(answer + strlen("running the first "), NULL, 10));
    else if (need <= (int64_t)count) /* all layers, called "not found", or without a message */
        string_add_format(expected, " | %lld", (long long)count);
    else
        string_add(expected, " | none");
}

/* "BisectMarker layers 8 need 3 | 8P(r4) 4P(r3) 2F(r2) 3P(r1) | ['...']" */
static bool follow_line(const char *line)
{
    char marker[16];
    size_t count;
    long long need;
    int steps = 0;
    struct string_builder expected, actual;

    if (sscanf(line, "%15[A-Za-z] layers %zu need %lld | %n", marker, &count, &need, &steps) < 3 || steps == 0)
        return false;
    const char *end = strstr(line + steps, " | ");
    assert_non_null(end);
    string_init(&expected);
    string_init(&actual);
    string_add_bytes(&expected, line + steps, (size_t)(end - line) - (size_t)steps);
    add_expected_end(&expected, line, count, need);
    run_prefixes(strcmp(marker, "BisectMarker") == 0 ? PRECISION_BISECT : PRECISION_LINEAR, count, need, &actual);
    assert_string_equal(actual.data, expected.data);
    string_release(&expected);
    string_release(&actual);
    return true;
}

static void sequences_are_polygraphys_with_all_elements_as_an_answer(void **state)
{
    char *text;
    size_t size, lines = 0;

    assert_int_equal(file_read("tests/golden/vectors/precision_bisect_and_linear.txt", 1 << 20, &text, &size, NULL), 0);
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        lines += follow_line(line);
    }
    assert_true(lines > 60);
    free(text);
}

/* ---- The minimal search ---- */

struct run {
    struct bitset result;
    enum precision_outcome outcome;
    size_t checks;
};

/* Passes with any set that `passes` says so of. */
static struct run run_hinted(size_t count, bool verified, const struct precision_hints *hints,
                             bool (*passes)(const struct bitset *, const void *), const void *data)
{
    struct precision_search search;
    struct run run = {.checks = 0};
    bool more = true;

    precision_search_start(&search, PRECISION_MINIMAL, count, verified);
    if (hints != NULL)
        precision_search_hint(&search, hints);
    while (more) {
        assert_true(precision_search_ops.remaining(&search) >= 0);
        more = precision_search_ops.advance(&search, -1, passes(&search.candidate, data) ? VERDICT_PASS : VERDICT_FAIL);
        assert_true(++run.checks < 100000);
    }
    run.outcome = search.outcome;
    bitset_init_copy(&run.result, &search.candidate);
    search_release(&precision_search_ops, &search);
    return run;
}

static struct run run_minimal(size_t count, bool verified, bool (*passes)(const struct bitset *, const void *),
                              const void *data)
{
    return run_hinted(count, verified, NULL, passes, data);
}

static bool has_all(const struct bitset *set, const void *culprits)
{
    struct bitset both;

    bitset_init_copy(&both, culprits);
    bitset_subtract(&both, set);
    bool ret = bitset_count(&both) == 0;
    bitset_release(&both);
    return ret;
}

static struct bitset random_culprits(struct mersenne_twister *twister, size_t count, size_t culprits, size_t among)
{
    struct bitset set;

    bitset_init(&set, count);
    while (bitset_count(&set) < culprits)
        bitset_add(&set, mersenne_twister_next(twister) % among);
    return set;
}

static void culprits_are_found_wherever_they_are(void **state)
{
    struct mersenne_twister twister;

    mersenne_twister_seed(&twister, 1);
    for (size_t i = 0; i < 500; i++) {
        size_t count = 1 + mersenne_twister_next(&twister) % 60;
        struct bitset culprits = random_culprits(&twister, count, 1 + mersenne_twister_next(&twister) % count, count);
        struct run run = run_minimal(count, i % 2 == 0, has_all, &culprits);

        assert_int_equal(run.outcome, PRECISION_FOUND);
        assert_true(bitset_equal(&run.result, &culprits));
        bitset_release(&run.result);
        bitset_release(&culprits);
    }
}

/* Scores that are right: the culprits come first. Then the search is done after log2 of them and a proof. */
static void good_order_needs_few_checks(void **state)
{
    struct mersenne_twister twister;

    mersenne_twister_seed(&twister, 2);
    struct bitset three = random_culprits(&twister, 200, 3, 3), ten = random_culprits(&twister, 200, 10, 10);
    struct run of_three = run_minimal(200, true, has_all, &three), of_ten = run_minimal(200, true, has_all, &ten);
    assert_true(of_three.checks <= 11);
    assert_true(of_ten.checks <= 25);
    bitset_release(&of_three.result);
    bitset_release(&of_ten.result);
    bitset_release(&three);
    bitset_release(&ten);
}

/* Errors add up: what is in low precision must not exceed a limit. */
static bool adds_up_to_little(const struct bitset *set, const void *data)
{
    const double *errors = data;
    double sum = 0;

    for (size_t i = 0; i < set->size; i++)
        sum += bitset_has(set, i) ? 0 : errors[i];
    return sum <= 1;
}

/* Has nothing to do with how much is in high precision, except that all of it passes and none fails. */
static bool is_unpredictable(const struct bitset *set, const void *data)
{
    uint32_t mixed = *(const uint32_t *)data;
    size_t count = bitset_count(set);

    if (count == 0 || count == set->size)
        return count > 0;
    for (size_t i = 0; i < set->size; i++)
        mixed = (mixed ^ (bitset_has(set, i) ? (uint32_t)i + 1 : 0)) * 2654435761U;
    return mixed >> 31;
}

static void assert_minimal(const struct run *run, bool (*passes)(const struct bitset *, const void *), const void *data)
{
    struct bitset set;

    assert_int_equal(run->outcome, PRECISION_FOUND);
    assert_true(passes(&run->result, data));
    bitset_init_copy(&set, &run->result);
    for (size_t i = 0; i < set.size; i++) {
        if (!bitset_has(&run->result, i))
            continue;
        bitset_remove(&set, i);
        assert_false(passes(&set, data));
        bitset_add(&set, i);
    }
    bitset_release(&set);
}

static void result_passes_and_without_any_element_it_does_not(void **state)
{
    struct mersenne_twister twister;

    mersenne_twister_seed(&twister, 3);
    for (uint32_t i = 0; i < 300; i++) {
        double errors[40];
        struct run run;

        for (size_t k = 0; k < ARRAY_LEN(errors); k++)
            errors[k] = mersenne_twister_next_fraction(&twister) / 4;
        run = run_minimal(ARRAY_LEN(errors), true, adds_up_to_little, errors);
        assert_minimal(&run, adds_up_to_little, errors);
        bitset_release(&run.result);
        run = run_minimal(20, true, is_unpredictable, &i);
        assert_minimal(&run, is_unpredictable, &i);
        bitset_release(&run.result);
    }
}

/* Ranges name the culprits: they are tried at once, then each is left out once. */
static void what_is_presumed_to_be_needed_takes_one_check_each(void **state)
{
    struct mersenne_twister twister;
    struct precision_hints hints = {.first = 12, .presumed = 12};

    mersenne_twister_seed(&twister, 4);
    struct bitset twelve = random_culprits(&twister, 200, 12, 12), one = random_culprits(&twister, 200, 1, 12);
    struct run run = run_hinted(200, true, &hints, has_all, &twelve);
    assert_true(bitset_equal(&run.result, &twelve));
    assert_int_equal(run.checks, 1 + 12);
    bitset_release(&run.result);
    run = run_hinted(200, true, &hints, has_all, &one); /* most were not needed, after all */
    assert_true(bitset_equal(&run.result, &one));
    bitset_release(&run.result);
    hints.presumed = 0; /* so they are taken out in chunks */
    run = run_hinted(200, true, &hints, has_all, &one);
    assert_true(bitset_equal(&run.result, &one));
    assert_true(run.checks <= 9);
    bitset_release(&run.result);
    bitset_release(&twelve);
    bitset_release(&one);
}

static void with_any_hints_the_result_has_nothing_that_it_could_do_without(void **state)
{
    struct mersenne_twister twister;

    mersenne_twister_seed(&twister, 5);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t groups[24];
        struct precision_hints hints = {.groups = i % 3 > 0 ? groups : NULL};

        for (size_t k = 0; k < ARRAY_LEN(groups); k++)
            groups[k] = k == 0 ? 0 : groups[k - 1] + (mersenne_twister_next(&twister) % 3 == 0);
        hints.first = mersenne_twister_next(&twister) % (ARRAY_LEN(groups) + 1);
        hints.presumed = hints.first > 0 ? mersenne_twister_next(&twister) % (hints.first + 1) : 0;
        struct run run = run_hinted(ARRAY_LEN(groups), i % 2 == 0, &hints, is_unpredictable, &i);
        assert_minimal(&run, is_unpredictable, &i);
        bitset_release(&run.result);
        struct bitset culprits = random_culprits(&twister, ARRAY_LEN(groups), 1 + i % 5, ARRAY_LEN(groups));
        run = run_hinted(ARRAY_LEN(groups), i % 2 == 0, &hints, has_all, &culprits);
        assert_true(bitset_equal(&run.result, &culprits));
        bitset_release(&run.result);
        bitset_release(&culprits);
    }
}

/* One block of ten is to blame, and all of it is needed. */
static void groups_stay_together_until_single_elements_are_tried(void **state)
{
    uint32_t groups[200];
    struct precision_hints hints = {.groups = groups};
    struct bitset block;

    bitset_init(&block, ARRAY_LEN(groups));
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        groups[i] = (uint32_t)i / 10;
        if (groups[i] == 9)
            bitset_add(&block, i);
    }
    struct run run = run_hinted(ARRAY_LEN(groups), true, &hints, has_all, &block);
    assert_true(bitset_equal(&run.result, &block));
    struct run alone = run_minimal(ARRAY_LEN(groups), true, has_all, &block);
    assert_true(run.checks < alone.checks);
    bitset_release(&run.result);
    bitset_release(&alone.result);
    bitset_release(&block);
}

static bool always(const struct bitset *set, const void *data)
{
    return true;
}

static bool never(const struct bitset *set, const void *data)
{
    return false;
}

static void nothing_is_needed_when_the_check_always_passes(void **state)
{
    for (size_t count = 0; count < 3; count++) {
        struct run run = run_minimal(count, false, always, NULL);

        assert_int_equal(run.outcome, PRECISION_FOUND);
        assert_int_equal(bitset_count(&run.result), 0);
        assert_int_equal(run.checks, count > 0 ? 2 : 1);
        bitset_release(&run.result);
    }
}

static void one_check_shows_that_high_precision_does_not_help(void **state)
{
    for (size_t count = 0; count < 3; count++) {
        struct run run = run_minimal(count, false, never, NULL);

        assert_int_equal(run.outcome, PRECISION_NOT_FOUND);
        assert_int_equal(run.checks, 1);
        bitset_release(&run.result);
    }
}

/* What passed or failed before does the opposite now: a search ends whatever it is told. */
static void contradictory_verdicts_end_the_search_all_the_same(void **state)
{
    struct run run = run_minimal(10, true, never, NULL);

    assert_int_equal(run.outcome, PRECISION_FOUND);
    bitset_release(&run.result);
    run = run_minimal(10, true, always, NULL);
    assert_int_equal(run.outcome, PRECISION_FOUND);
    assert_int_equal(bitset_count(&run.result), 1); /* that none suffice was said before */
    bitset_release(&run.result);
}

/* Errors add up, and so many elements have to be high: after a few chunks in vain it is one check for each. */
static void where_most_are_needed_chunks_end_early(void **state)
{
    struct precision_search search;
    size_t checks = 0;
    bool more;

    precision_search_start(&search, PRECISION_MINIMAL, 100, true);
    do {
        checks++;
        more = precision_search_ops.advance(&search, 0,
                                            bitset_count(&search.candidate) >= 48 ? VERDICT_PASS : VERDICT_FAIL);
    } while (more);
    assert_int_equal(search.outcome, PRECISION_FOUND);
    assert_int_equal(bitset_count(&search.candidate), 48);
    assert_in_range(checks, 48, 65);
    search_release(&precision_search_ops, &search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_polygraphys_with_all_elements_as_an_answer),
        cmocka_unit_test(culprits_are_found_wherever_they_are),
        cmocka_unit_test(good_order_needs_few_checks),
        cmocka_unit_test(result_passes_and_without_any_element_it_does_not),
        cmocka_unit_test(what_is_presumed_to_be_needed_takes_one_check_each),
        cmocka_unit_test(with_any_hints_the_result_has_nothing_that_it_could_do_without),
        cmocka_unit_test(groups_stay_together_until_single_elements_are_tried),
        cmocka_unit_test(nothing_is_needed_when_the_check_always_passes),
        cmocka_unit_test(one_check_shows_that_high_precision_does_not_help),
        cmocka_unit_test(contradictory_verdicts_end_the_search_all_the_same),
        cmocka_unit_test(where_most_are_needed_chunks_end_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
