/* What reaches the sink. */
#include <string.h>

#include "base/log.h"
#include "base/text/string_builder.h"
#include "support/unit_test.h"

static void sink(void *data, enum log_level level, int depth, struct text message)
{
    string_add_format(data, "%d/%d/" TEXT_FORMAT "\n", (int)level, depth, TEXT_ARGS(message));
}

static struct log log_to(struct string_builder *shown, enum log_level threshold)
{
    string_init(shown);
    return (struct log){.threshold = threshold, .write = sink, .data = shown};
}

static void missing_log_takes_everything(void **state)
{
    log_message(NULL, LOG_CRITICAL, "%d", 1);
    log_text(NULL, LOG_CRITICAL, TEXT("x"));
    log_once(NULL, LOG_CRITICAL, "%d", 1);
    log_indent(NULL, 1);
    log_release(NULL);
    assert_false(log_shows(NULL, LOG_CRITICAL));
}

static void lines_below_the_threshold_are_dropped(void **state)
{
    struct string_builder shown;
    struct log log = log_to(&shown, LOG_INFO);

    log_message(&log, LOG_VERBOSE, "no");
    log_message(&log, LOG_INFO, "yes %s", "1");
    log_text(&log, LOG_CRITICAL, TEXT("yes 2"));
    assert_string_equal(shown.data, "20/0/yes 1\n50/0/yes 2\n");
    assert_false(log_shows(&log, LOG_VERBOSE));
    assert_true(log_shows(&log, LOG_WARNING));
    string_release(&shown);
}

static void depth_goes_with_each_message(void **state)
{
    struct string_builder shown;
    struct log log = log_to(&shown, LOG_INFO);

    log_indent(&log, 1);
    log_indent(&log, 1);
    log_message(&log, LOG_INFO, "a");
    log_indent(&log, -1);
    log_message(&log, LOG_INFO, "b");
    assert_string_equal(shown.data, "20/2/a\n20/1/b\n");
    string_release(&shown);
}

static void same_message_is_shown_once(void **state)
{
    struct string_builder shown;
    struct log log = log_to(&shown, LOG_WARNING);

    log_once(&log, LOG_INFO, "tensor %d", 1); /* not shown, so it does not count */
    for (int i = 0; i < 300; i++)
        log_once(&log, LOG_WARNING, "tensor %d", i % 3);
    assert_string_equal(shown.data, "30/0/tensor 0\n30/0/tensor 1\n30/0/tensor 2\n");
    log_release(&log);
    string_release(&shown);
}

static void kept_lines_are_shown_later_and_at_the_depth_of_then(void **state)
{
    struct string_builder shown;
    struct log log = log_to(&shown, LOG_INFO);
    struct log_lines lines = {0};

    log_indent(&log, 2);
    log_keep(&log, &lines);
    log_message(&log, LOG_INFO, "a");
    log_indent(&log, 1);
    log_once(&log, LOG_WARNING, "once");
    log_message(&log, LOG_VERBOSE, "below the threshold");
    log_indent(&log, -3);
    log_keep(&log, NULL);
    assert_string_equal(shown.data, "");
    log_once(&log, LOG_WARNING, "once"); /* what is kept does not count as shown */
    log_show_lines(&log, &lines);
    assert_string_equal(shown.data, "30/0/once\n20/0/a\n");
    log_lines_release(&lines);
    assert_int_equal(lines.count, 0);
    log_release(&log);
    string_release(&shown);
}

static void long_message_is_whole(void **state)
{
    struct string_builder shown;
    struct log log = log_to(&shown, LOG_INFO);

    log_message(&log, LOG_INFO, "%100000d", 1);
    assert_int_equal(shown.size, strlen("20/0/\n") + 100000);
    string_release(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_log_takes_everything),
        cmocka_unit_test(lines_below_the_threshold_are_dropped),
        cmocka_unit_test(depth_goes_with_each_message),
        cmocka_unit_test(same_message_is_shown_once),
        cmocka_unit_test(long_message_is_whole),
        cmocka_unit_test(kept_lines_are_shown_later_and_at_the_depth_of_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
