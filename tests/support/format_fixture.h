/* support/format_fixture.h: files that tests of file formats write, read and compare. */
#ifndef SUPPORT_FORMAT_FIXTURE_H
#define SUPPORT_FORMAT_FIXTURE_H

#include <stddef.h>

#include "support/unit_test.h"

/* The path of a file of this test in the folder for temporary files; valid until the next call. */
const char *scratch_path(const char *name);

/* The contents of a file as malloc'd text; the test fails if it cannot be read. */
char *content_of(const char *path, size_t *ret_size);
void assert_same_content(const char *path, const char *expected_path);

#endif
