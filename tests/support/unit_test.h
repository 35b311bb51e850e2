/* support/unit_test.h: cmocka, with the headers that it needs before it, and the assertion that most tests use. */
#ifndef SUPPORT_UNIT_TEST_H
#define SUPPORT_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

void assert_message_contains(const struct error *error, const char *part);

#endif
