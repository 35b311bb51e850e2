/* format/ci/junit.h: results as test cases, in the XML that began with JUnit and that CI systems read.
 *
 * The module format/ci/ writes for systems of continuous integration: test results (JUnit's XML) and findings about a
 * file (SARIF). Results come in one by one; out goes a file, whole or not at all. It knows nothing of commands.
 *
 *   struct junit *junit = junit_new("polygraphy run", "polygraphy.model");
 *   junit_add_case(junit, &(struct junit_case){.name = "y", .outcome = JUNIT_PASSED, .seconds = NAN});
 *   rc = junit_save(junit, "results.xml", seconds, err);
 *   junit_free(junit);
 *
 * Nobody has ever written down the format; what is written here is what the schemas of Jenkins (junit-10.xsd) and
 * Maven's Surefire have in common, and GitLab reads. There is no host name and no date in it: two runs of the same
 * command differ in times alone. All text may be any bytes; what XML cannot hold becomes U+FFFD. All functions do
 * nothing when `junit` is NULL.
 */
#ifndef FORMAT_CI_JUNIT_H
#define FORMAT_CI_JUNIT_H

#include "base/error.h"
#include "base/text/text.h"

struct junit;

/* One test suite. `group` is what its cases are sorted by, their class name; a reader splits it at dots. */
struct junit *junit_new(const char *name, const char *group);
void junit_free(struct junit *junit);

/* Something about all of it: "command". */
void junit_add_property(struct junit *junit, const char *name, const char *value);

enum junit_outcome {
    JUNIT_PASSED,
    JUNIT_FAILED, /* it was looked at, and is wrong */
    JUNIT_ERROR,  /* it could not be looked at: something else went wrong */
    JUNIT_SKIPPED /* nobody looked */
};

/* One test; a reader knows it again, in another run, by its name. A second one with it is called "name (2)". */
struct junit_case {
    const char *name;
    enum junit_outcome outcome;
    const char *message; /* one sentence, unless it passed; else NULL */
    struct text details; /* lines; size 0: none */
    double seconds;      /* NAN: not known */
};

void junit_add_case(struct junit *junit, const struct junit_case *item);

/* A line of what the whole suite has to say. */
void junit_add_line(struct junit *junit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many cases there are, and how many of them failed or ended in an error. */
size_t junit_count(const struct junit *junit);
size_t junit_count_bad(const struct junit *junit);

/* Writes the file. `seconds`: what all of it took. ERR_IO. */
int junit_save(const struct junit *junit, const char *path, double seconds, struct error *err);

#endif
