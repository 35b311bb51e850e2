/* debug/loop/resume_hint.h: the command line that continues an interrupted session. */
#ifndef DEBUG_LOOP_RESUME_HINT_H
#define DEBUG_LOOP_RESUME_HINT_H

#include <stdbool.h>

/* `command_line` (the words typed, NULL-terminated) with `--load-debug-replay <replay>` in place of any such option,
 * ready to be pasted into a shell. What follows --check is left alone, unless `options_after_check`: the check was one
 * quoted word. malloc'd. */
char *resume_hint_make(const char *const *command_line, const char *replay, bool options_after_check);

#endif
