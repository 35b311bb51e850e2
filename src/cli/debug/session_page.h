/* cli/debug/session_page.h: the page about a session of a debug tool (report/report.h). */
#ifndef CLI_DEBUG_SESSION_PAGE_H
#define CLI_DEBUG_SESSION_PAGE_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/session/session.h"
#include "onnx/model/model.h"
#include "report/report.h"

/* What a session tells beside its log: the page, and test cases for --junit. Begun with `counts` set or not. */
struct session_page {
    bool counts; /* each iteration is a test; else the session is one, which passes when it finds its answer */
    struct report *report; /* NULL: no page and no cases are wanted */
    struct junit *junit;   /* the context's; NULL: not wanted */
};

/* Begins what the options ask for. The page is called after the tool and the model of the settings. What the session of
 * these settings judges becomes its search, over `unit` ("nodes"), each candidate with what its check has written;
 * `page` has to stay where it is as long as the session. */
void session_page_begin(struct session_page *page, const struct command_context *context,
                        const struct report_values *values, const char *tool, const char *unit,
                        struct session_settings *settings);

/* Writes the page. `found`: the session has found what it is for; else its test has failed where the verdict says so,
 * and is skipped where nothing was to be found. */
int session_page_finish(struct session_page *page, const struct command_context *context,
                        const struct report_values *values, bool found, struct error *err);

void session_page_release(struct session_page *page);

/* The network of the session, and in words how its checks have ended, as proof. */
void session_page_add_model(struct report *report, struct model *model);
void session_page_add_checks(struct report *report, const struct debug_session *session);

/* The verdict of a session that only counts: how many of those that were judged have failed. The same as proof. */
void session_page_tell_rate(struct report *report, const char *unit, const struct debug_session *session);

#endif
