/* debug/check/interactive.c: see interactive.h. */
#include "debug/check/interactive.h"

int interactive_ask(const struct check_settings *settings, const char *subject, enum verdict *ret, struct error *err)
{
    struct string_builder question, answer;
    int rc;

    string_init(&question);
    string_init(&answer);
    string_add_format(&question, ">>> Did '%s' [p]ass or [f]ail? ", subject ? subject : "this iteration");
    for (;;) {
        string_clear(&answer);
        rc = settings->ask(question.data, &answer, err);
        if (rc < 0)
            break;
        char first = answer.size > 0 ? answer.data[0] : '\0';
        if (first == 'p' || first == 'P' || first == 'f' || first == 'F') {
            *ret = first == 'p' || first == 'P' ? VERDICT_PASS : VERDICT_FAIL;
            break;
        }
        string_clear(&question);
        string_add(&question, ">>> Please choose either: 'p' or 'f': ");
    }
    string_release(&answer);
    string_release(&question);
    return rc;
}
