/* support/in_child.h: runs tests that change or end their process in a forked child. */
#ifndef SUPPORT_IN_CHILD_H
#define SUPPORT_IN_CHILD_H

#include <stdio.h>

/* Runs `function` in a forked child whose exit status is its result. Returns that, or minus the number of the signal
 * that ended it. */
int in_child(int (*function)(void));

/* For such a function: unless `condition` holds, prints it and returns 1. */
#define CHECK_OR_FAIL(condition)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
