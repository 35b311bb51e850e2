/* Tests of debug/belief/repeated.c: how often a check is run, and what is said about it. */
#include <string.h>

#include "debug/belief/repeated.h"
#include "support/captured_log.h"
#include "support/unit_test.h"

/* A check whose runs end as the letters of a text say: f(ail), p(ass), s(kip), e(rror). */
struct scripted {
    const char *next;
};

static int run_scripted(void *data, enum verdict *ret, struct error *err)
{
    struct scripted *scripted = data;

    switch (*scripted->next++) {
    case 'f':
        *ret = VERDICT_FAIL;
        return 0;
    case 'p':
        *ret = VERDICT_PASS;
        return 0;
    case 's':
        *ret = VERDICT_SKIP;
        return 0;
    default:
        scripted->next--;
        return error_set(err, ERR_IO, "the script is at its end");
    }
}

struct session {
    struct captured_log log;
    struct repeated_check check;
    struct run_counts counts;
    enum verdict verdict;
    struct error err;
    int rc;
};

static void begin(struct session *session, bool no_false_failures)
{
    *session = (struct session){.rc = 0};
    captured_log_init(&session->log);
    repeated_check_init(&session->check, true, no_false_failures, &session->log.log);
}

/* Returns how many letters of `script` were used. */
static size_t run(struct session *session, enum expectation expectation, const char *script)
{
    struct repeated_runs runs = repeated_runs_begin(&session->check, expectation);
    struct scripted scripted = {script};
    enum verdict verdict = VERDICT_SKIP;

    session->rc = 0;
    while (session->rc == 0 && repeated_runs_want_more(&runs)) {
        session->rc = run_scripted(&scripted, &verdict, &session->err);
        if (session->rc == 0)
            repeated_runs_add(&session->check, &runs, verdict);
    }
    if (session->rc == 0) {
        session->verdict = repeated_runs_end(&session->check, &runs);
        session->counts = runs.counts;
    }
    if (session->rc == 0)
        repeated_check_learn(&session->check, expectation, session->counts, session->verdict);
    return (size_t)(scripted.next - script);
}

static void assert_logged(struct session *session, const char *text)
{
    if (!strstr(session->log.text.data, text))
        fail_msg("'%s' is not in:\n%s", text, session->log.text.data);
}

static void original_and_candidates_are_run_as_often_as_needed(void **state)
{
    struct session session;

    begin(&session, false);
    assert_int_equal(run(&session, EXPECT_FAILURE, "ffpfffff"), 4);
    assert_int_equal(session.verdict, VERDICT_FAIL);
    assert_logged(&session, "Failed in 3 of 4 runs");
    assert_int_equal(run(&session, EXPECT_NOTHING, "pppppppp"), 4);
    assert_int_equal(session.verdict, VERDICT_PASS);
    assert_int_equal(run(&session, EXPECT_NOTHING, "ffffffff"), 4);
    assert_int_equal(session.verdict, VERDICT_FAIL);
    assert_int_equal(run(&session, EXPECT_AGAIN, "ffffffff"), 2);
    assert_int_equal(session.verdict, VERDICT_FAIL);
    captured_log_release(&session.log);
}

static void reliable_check_runs_once_until_it_is_not_reliable(void **state)
{
    struct session session;

    begin(&session, true);
    assert_int_equal(run(&session, EXPECT_FAILURE, "ffffffff"), 5);
    assert_int_equal(run(&session, EXPECT_NOTHING, "pppp"), 1);
    assert_int_equal(run(&session, EXPECT_NOTHING, "ffff"), 1);
    repeated_check_learn(&session.check, EXPECT_NOTHING, (struct run_counts){2, 1}, VERDICT_FAIL);
    assert_true(run(&session, EXPECT_NOTHING, "pppp") > 1);
    captured_log_release(&session.log);
}

static void skipped_runs_do_not_count_but_many_of_them_do(void **state)
{
    struct session session;

    begin(&session, false);
    assert_int_equal(run(&session, EXPECT_FAILURE, "fsfspsfpp"), 7);
    assert_int_equal(session.counts.runs, 4);
    assert_logged(&session, "3 more run(s) were skipped");
    assert_int_equal(run(&session, EXPECT_NOTHING, "sssss"), 3);
    assert_int_equal(session.verdict, VERDICT_SKIP);
    assert_int_equal(run(&session, EXPECT_NOTHING, "fssssssssssssssssssssssssssssssssss"), 31);
    assert_int_equal(session.verdict, VERDICT_SKIP);
    captured_log_release(&session.log);
}

static void candidate_that_stays_doubtful_is_skipped(void **state)
{
    struct session session;

    begin(&session, false);
    run(&session, EXPECT_FAILURE, "ffpf");
    assert_int_equal(run(&session, EXPECT_NOTHING, "fppfppfppfppfppfppfppfppfppfppfpp"), 30);
    assert_int_equal(session.verdict, VERDICT_SKIP);
    assert_logged(&session, "Inconclusive: these runs do not decide");
    captured_log_release(&session.log);
}

static void search_ends_when_nothing_can_be_told_any_more(void **state)
{
    struct session session;

    begin(&session, false);
    run(&session, EXPECT_FAILURE, "ffpf");
    assert_true(repeated_check_can_go_on(&session.check));
    repeated_check_learn(&session.check, EXPECT_NOTHING, (struct run_counts){100, 40}, VERDICT_PASS);
    assert_false(repeated_check_can_go_on(&session.check));
    assert_logged(&session, "too close to tell them apart");
    captured_log_release(&session.log);
}

static void known_good_one_tells_how_often_there_are_false_failures(void **state)
{
    struct session session;

    begin(&session, false);
    assert_int_equal(run(&session, EXPECT_PASS, "ppppppp"), 5);
    assert_int_equal(session.verdict, VERDICT_PASS);
    assert_int_equal(run(&session, EXPECT_PASS, "pfppppppppfpppppppppp"), 20);
    assert_int_equal(session.verdict, VERDICT_PASS);
    assert_int_equal(session.check.rates.without.runs, 25);
    assert_int_equal(session.check.rates.without.fails, 2);
    assert_int_equal(run(&session, EXPECT_PASS, "fffffff"), 5);
    assert_int_equal(session.verdict, VERDICT_FAIL);
    assert_int_equal(session.check.rates.without.runs, 25);
    captured_log_release(&session.log);
}

static void errors_of_a_run_are_passed_on(void **state)
{
    struct session session;

    begin(&session, false);
    run(&session, EXPECT_FAILURE, "ff");
    assert_int_equal(session.rc, ERR_IO);
    captured_log_release(&session.log);
}

static void report_gives_the_interval(void **state)
{
    struct session session;

    begin(&session, false);
    repeated_check_report(&session.check, "The result", (struct run_counts){10, 8});
    assert_logged(&session, "The result fails in 8 of 10 runs (95 % interval 0.49 .. 0.94)");
    string_clear(&session.log.text);
    repeated_check_report(&session.check, "The result", (struct run_counts){0, 0});
    assert_int_equal(session.log.text.size, 0);
    captured_log_release(&session.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_and_candidates_are_run_as_often_as_needed),
        cmocka_unit_test(reliable_check_runs_once_until_it_is_not_reliable),
        cmocka_unit_test(skipped_runs_do_not_count_but_many_of_them_do),
        cmocka_unit_test(candidate_that_stays_doubtful_is_skipped),
        cmocka_unit_test(search_ends_when_nothing_can_be_told_any_more),
        cmocka_unit_test(known_good_one_tells_how_often_there_are_false_failures),
        cmocka_unit_test(errors_of_a_run_are_passed_on),
        cmocka_unit_test(report_gives_the_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
