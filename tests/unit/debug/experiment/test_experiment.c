/* test_experiment.c: sets of items between an end that passes and one that fails. */
#include "debug/experiment/experiment.h"

#include <string.h>

#include "base/file/file.h"
#include "search/sets/set_isolation.h"
#include "support/session_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define ITEMS 4

/* Candidates are files with the letters of their items: "ac". */
struct letters {
    struct fixture fixture;
    struct experiment_items items;
    struct experiment experiment;
    char text[ITEMS + 1]; /* of the candidate that was made last */
    int made;             /* how often one was */
    int refused;          /* make() returns that; 0: it makes */
};

static int make_letters(void *data, const struct bitset *set, struct error *err)
{
    struct letters *letters = data;
    size_t length = 0;

    if (letters->refused != 0)
        return error_set(err, (enum error_code)letters->refused, "no such letters");
    for (size_t i = 0; i < set->size; i++)
        if (bitset_has(set, i))
            letters->text[length++] = (char)('a' + i);
    letters->text[length] = '\0';
    letters->made++;
    return 0;
}

static int save_letters(void *data, const char *path, struct error *err)
{
    const struct letters *letters = data;

    return file_write(path, letters->text, strlen(letters->text), FILE_INTERMEDIATE, err);
}

static void choose_set(void *data, const void *search, struct bitset *ret)
{
    bitset_assign(ret, &((const struct set_isolation *)search)->candidate);
}

static void announce_set(void *data, const void *search, const struct bitset *set)
{
    log_message(&((struct letters *)data)->fixture.log.log, LOG_INFO, "Trying %zu letters", bitset_count(set));
}

/* Begins a session with this check of the file "letters". */
static void begin(struct letters *letters, const char *check)
{
    *letters = (struct letters){.made = 0};
    fixture_init(&letters->fixture, check);
    letters->fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "letters";
    assert_int_equal(fixture_begin(&letters->fixture), 0);
    letters->items = (struct experiment_items){.data = letters,
                                               .count = ITEMS,
                                               .kind = "word",
                                               .saving = "Saving word to",
                                               .expectation = EXPECT_BOUNDARY,
                                               .make = make_letters,
                                               .save = save_letters};
    letters->experiment = (struct experiment){
        .items = &letters->items, .session = letters->fixture.session, .log = &letters->fixture.log.log};
}

static void set_of(const char *text, struct bitset *ret)
{
    bitset_init(ret, ITEMS);
    for (; *text != '\0'; text++)
        bitset_add(ret, (size_t)(*text - 'a'));
}

static int check_letters(struct letters *letters, enum check_role role, const char *text, const char *key,
                         enum verdict *ret)
{
    struct bitset set;
    int rc;

    set_of(text, &set);
    rc = experiment_check(&letters->experiment, &set, (struct check_request){role, key, "some letters"}, ret,
                          &letters->fixture.err);
    bitset_release(&set);
    return rc;
}

static int confirm_letters(struct letters *letters, const char *text, enum verdict expected)
{
    struct bitset set;
    int rc;

    set_of(text, &set);
    rc = experiment_confirm(&letters->experiment, &set, "the word", expected, &letters->fixture.err);
    bitset_release(&set);
    return rc;
}

static void the_items_that_make_the_difference_are_found_and_known(void **state)
{
    struct set_isolation isolation;
    const struct experiment_search search = {
        .ops = &set_isolation_ops, .search = &isolation, .choose = choose_set, .announce = announce_set};
    enum verdict verdict;
    struct letters letters;

    begin(&letters, "! grep -q 'b.*d' letters");
    assert_int_equal(check_letters(&letters, ROLE_GOOD_END, "", "_none", &verdict), 0);
    assert_int_equal(verdict, VERDICT_PASS);
    assert_int_equal(check_letters(&letters, ROLE_BAD_END, "abcd", "_all", &verdict), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_true(set_isolation_start(&isolation, ITEMS));
    assert_int_equal(experiment_run(&letters.experiment, &search, &letters.fixture.err), 0);
    assert_int_equal(isolation.phase, ISOLATION_DONE);
    assert_int_equal(bitset_count(&isolation.found), 2);
    assert_true(bitset_has(&isolation.found, 1) && bitset_has(&isolation.found, 3));

    int made = letters.made;
    assert_int_equal(confirm_letters(&letters, "bd", VERDICT_FAIL), 0); /* this session's check has said so */
    assert_int_equal(letters.made, made);
    letters.items.confirms_always = true;
    assert_int_equal(confirm_letters(&letters, "bd", VERDICT_FAIL), 0);
    assert_int_equal(letters.made, made + 1);
    assert_false(file_exists("letters"));
    search_release(&set_isolation_ops, &isolation);
    fixture_release(&letters.fixture);
}

static void a_candidate_that_cannot_be_made_fails_or_is_an_error(void **state)
{
    enum verdict verdict = VERDICT_PASS;
    struct letters letters;

    begin(&letters, "true");
    letters.refused = ERR_BACKEND;
    assert_int_equal(check_letters(&letters, ROLE_CANDIDATE, "a", "_one", &verdict), ERR_BACKEND);
    letters.items.fails_unmade = true;
    assert_int_equal(check_letters(&letters, ROLE_CANDIDATE, "a", "_one", &verdict), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_true(captured_log_has(&letters.fixture.log, "no such letters"));
    assert_false(file_exists("runs")); /* there was nothing to check */
    letters.refused = ERR_IO;
    assert_int_equal(check_letters(&letters, ROLE_CANDIDATE, "b", "_two", &verdict), ERR_IO);
    fixture_release(&letters.fixture);
}

/* The ends of these tests. */
static int look_back(struct letters *letters)
{
    struct bitset none, all;
    const struct experiment_end good = {&none, "_none", "no letters", "without letters"};
    const struct experiment_end bad = {&all, "_all", "all letters", "with all letters"};
    int rc;

    set_of("", &none);
    set_of("abcd", &all);
    rc = experiment_look_back(&letters->experiment, &good, &bad, &letters->fixture.err);
    bitset_release(&none);
    bitset_release(&all);
    return rc;
}

static void a_check_that_has_changed_its_mind_is_not_believed(void **state)
{
    enum verdict verdict;
    struct letters letters;

    begin(&letters, "[ -e changed ] || grep -q x letters");
    assert_int_equal(check_letters(&letters, ROLE_BAD_END, "abcd", "_all", &verdict), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    scratch_file("changed", "");
    assert_int_equal(check_letters(&letters, ROLE_CANDIDATE, "a", "_one", &verdict), 0);
    assert_int_equal(verdict, VERDICT_PASS);
    assert_int_equal(look_back(&letters), ERR_INVALID); /* the last verdict was a pass: does the bad end still fail? */
    assert_non_null(strstr(letters.fixture.err.message, "the word with all letters no longer fails when re-checked"));
    fixture_release(&letters.fixture);
}

static void a_check_that_passes_on_what_is_no_candidate_is_refused(void **state)
{
    enum verdict verdict;
    struct letters letters;
    struct bitset all;
    const struct experiment_end bad = {&all, "_all", "all letters", "with all letters"};

    begin(&letters, "true");
    assert_int_equal(check_letters(&letters, ROLE_BAD_END, "abcd", "_all", &verdict), 0);
    assert_int_equal(verdict, VERDICT_PASS);
    set_of("abcd", &all);
    assert_int_equal(experiment_question_end(&letters.experiment, &bad, verdict, &letters.fixture.err), ERR_INVALID);
    assert_non_null(
        strstr(letters.fixture.err.message,
               "the check passes on the word with all letters, but also on a file that is not a valid word"));
    bitset_release(&all);
    fixture_release(&letters.fixture);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(the_items_that_make_the_difference_are_found_and_known),
        IN_SCRATCH(a_candidate_that_cannot_be_made_fails_or_is_an_error),
        IN_SCRATCH(a_check_that_has_changed_its_mind_is_not_believed),
        IN_SCRATCH(a_check_that_passes_on_what_is_no_candidate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
