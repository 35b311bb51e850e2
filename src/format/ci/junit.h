/* format/ci/junit.h: test results as JUnit XML, which CI systems read.
 *
 * The module format/ci/ contains output formats for continuous integration: test results (JUnit XML) and findings about
 * a file (SARIF). Results are added one by one; files are written atomically. It does not depend on commands.
 *
 *   struct junit *junit = junit_new("polygraphy run", "polygraphy.model");
 *   junit_add_case(junit, &(struct junit_case){.name = "y", .outcome = JUNIT_PASSED, .seconds = NAN});
 *   rc = junit_save(junit, "results.xml", seconds, err);
 *   junit_free(junit);
 *
 * The format has no official specification; this is the common subset of the schemas of Jenkins (junit-10.xsd) and
 * Maven Surefire that GitLab also reads. Host name and date are omitted: two runs of the same command differ only in
 * durations. Texts may be any bytes; characters that XML does not allow become U+FFFD. All functions do nothing when
 * `junit` is NULL.
 */
#ifndef FORMAT_CI_JUNIT_H
#define FORMAT_CI_JUNIT_H

#include "base/error.h"
#include "base/text/text.h"

struct junit;

/* Creates a test suite. `group` is the class name of its cases; readers split it at dots. */
struct junit *junit_new(const char *name, const char *group);
void junit_free(struct junit *junit);

/* Adds a property of the suite, for example "command". */
void junit_add_property(struct junit *junit, const char *name, const char *value);

enum junit_outcome {
    JUNIT_PASSED,
    JUNIT_FAILED, /* tested, and failed */
    JUNIT_ERROR,  /* could not be tested because of another error */
    JUNIT_SKIPPED /* not tested */
};

/* One test; readers identify it across runs by its name. A second case with the same name becomes "name (2)". */
struct junit_case {
    const char *name;
    enum junit_outcome outcome;
    const char *message; /* one sentence; NULL if it passed */
    struct text details; /* lines; size 0: none */
    double seconds;      /* NAN: unknown */
};

void junit_add_case(struct junit *junit, const struct junit_case *item);

/* Adds a line to the system-out of the suite. */
void junit_add_line(struct junit *junit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of cases, and of those that failed or had an error. */
size_t junit_count(const struct junit *junit);
size_t junit_count_bad(const struct junit *junit);

/* Writes the file. `seconds`: total duration. ERR_IO. */
int junit_save(const struct junit *junit, const char *path, double seconds, struct error *err);

#endif
