/* library/command_log.c: see command_log.h. */
#include "library/command_log.h"

#include <string.h>

#include "base/log.h"

#define PREFIX_SIZE 4 /* bytes of "[I] " */

/* The level whose letter begins the line; that of the message before if the line continues it. */
static bool begins_message(const char *line, int32_t *ret)
{
    static const struct {
        char letter;
        enum log_level level;
    } levels[] = {{'U', LOG_ULTRA_VERBOSE}, {'S', LOG_SUPER_VERBOSE}, {'X', LOG_EXTRA_VERBOSE}, {'V', LOG_VERBOSE},
                  {'I', LOG_INFO},          {'W', LOG_WARNING},       {'E', LOG_ERROR},         {'!', LOG_CRITICAL}};

    if (line[0] != '[' || line[1] == '\0' || line[2] != ']' || line[3] != ' ')
        return false;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (levels[i].letter == line[1]) {
            *ret = levels[i].level;
            return true;
        }
    return false;
}

static void note_error(struct command_log *log, const char *text, bool begins)
{
    if (begins)
        string_clear(&log->error);
    else
        string_add_char(&log->error, ' ');
    string_add(&log->error, text + strspn(text, " "));
}

static void pass_line(struct command_log *log)
{
    bool begins = begins_message(log->line.data, &log->level);
    const char *text = log->line.data + (begins ? PREFIX_SIZE : 0);

    if (log->level >= LOG_CRITICAL)
        note_error(log, text, begins);
    if (log->write != NULL)
        log->write(log->context, log->level, text);
    string_clear(&log->line);
}

void command_log_init(struct command_log *log, polygraphy_log *write, void *context)
{
    *log = (struct command_log){.write = write, .context = context, .level = LOG_INFO};
    string_init(&log->line);
    string_init(&log->error);
}

void command_log_release(struct command_log *log)
{
    string_release(&log->line);
    string_release(&log->error);
}

void command_log_add(struct command_log *log, struct text bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i] == '\n')
            pass_line(log);
        else
            string_add_char(&log->line, bytes.data[i]);
}

void command_log_end(struct command_log *log)
{
    if (log->line.size > 0)
        pass_line(log);
}
