/* Errors and warnings that a child passes to this process: whole, in order, and from whom. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/error_file.h"
#include "support/unit_test.h"

/* A child with `variable` in its environment writes a warning and an error. */
static pid_t write_in_child(const char *variable)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct error err;

        putenv((char *)variable);
        error_file_attach();
        error_set(&err, ERR_INVALID, "data are random");
        error_file_write(RECORD_WARNING, &err);
        error_set(&err, ERR_CORRUPT, "'%s' is damaged", "model.onnx");
        err.foreign_code = -7;
        error_file_write(RECORD_ERROR, &err);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static void records_come_back_whole_and_in_order(void **state)
{
    struct error_record record;
    struct error_file file;
    pid_t children[2];

    (void)state;
    if (!error_file_open(&file))
        skip();
    assert_false(error_file_read(&file, 0, &record));
    for (size_t i = 0; i < 2; i++)
        children[i] = write_in_child(file.variable);
    for (size_t i = 0; i < 2; i++) {
        assert_true(error_file_read(&file, 2 * i, &record));
        assert_int_equal(record.kind, RECORD_WARNING);
        assert_string_equal(record.error.message, "data are random");
        assert_true(error_file_read(&file, 2 * i + 1, &record));
        assert_int_equal(record.kind, RECORD_ERROR);
        assert_int_equal(record.process, children[i]);
        assert_int_equal(record.error.code, ERR_CORRUPT);
        assert_int_equal(record.error.foreign_code, -7);
        assert_string_equal(record.error.message, "'model.onnx' is damaged");
    }
    assert_false(error_file_read(&file, 4, &record));
    error_file_close(&file);
    assert_false(error_file_read(&file, 0, &record));
}

static void what_is_no_record_is_not_read(void **state)
{
    static const char line[] = "error 1 of the runtime, Gemm\n";
    struct error_record record;
    struct error_file file;

    (void)state;
    if (!error_file_open(&file))
        skip();
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(write(file.fd, line, strlen(line)), strlen(line));
    assert_false(error_file_read(&file, 0, &record));
    error_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_whole_and_in_order),
        cmocka_unit_test(what_is_no_record_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
