/* cli/debug/session_page.h: the page about a session of a debug tool (report/report.h). */
#ifndef CLI_DEBUG_SESSION_PAGE_H
#define CLI_DEBUG_SESSION_PAGE_H

#include "cli/parse/command.h"
#include "debug/loop/loop.h"
#include "onnx/model/model.h"
#include "report/report.h"

/* A report, when --report or --report-data ask for one, else NULL: it is called after the tool and `subject` (a model's
 * path; NULL: there is none). What the loop of these settings judges becomes its search, over `unit` ("nodes"), each
 * candidate with what its check has written. report_finish() ends it. */
struct report *session_page_begin(const struct command_context *context, const char *tool, const char *subject,
                                  const char *unit, struct loop_settings *settings);

/* The network of the session, and in words how its checks have ended, as proof. */
void session_page_add_model(struct report *report, struct model *model);
void session_page_add_checks(struct report *report, const struct loop *loop);

/* The verdict of a session that only counts: how many of those that were judged have failed. The same as proof. */
void session_page_tell_rate(struct report *report, const char *unit, const struct loop *loop);

#endif
