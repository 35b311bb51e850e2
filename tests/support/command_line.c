/* support/command_line.c: see command_line.h. */
#include "support/command_line.h"

void command_line_parse(struct command_line *line, const struct command *root, const char *const *words)
{
    size_t count = 0;

    *line = (struct command_line){0};
    captured_log_init(&line->log);
    while (words[count])
        count++;
    parse_init(&line->parse, root);
    line->outcome = parse_words(&line->parse, count, words, &line->err);
    if (line->outcome == PARSE_DONE)
        line->rc = parse_finish(&line->parse, &line->log.log, &line->err);
}

void command_line_release(struct command_line *line)
{
    parse_release(&line->parse);
    captured_log_release(&line->log);
}
