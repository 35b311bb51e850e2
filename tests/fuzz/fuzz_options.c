/* fuzz_options.c: the option parser, given any words. The input is the words behind the program's name, each ended by
 * NUL.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/session.h"
#include "cli/options/reduce.h"
#include "cli/parse/parser.h"
#include "target.h"

#define MOST_WORDS 256

static const struct command *const tools[] = {&cmd_run, &cmd_debug};
static const struct command root = {.name = "polygraphy", .subcommands = tools, .subcommand_count = ARRAY_LEN(tools)};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memory_copy(data, size);
    const char *words[MOST_WORDS];
    struct parse parse;
    struct error err;
    size_t count = 0;

    for (size_t at = 0; at < size && count < MOST_WORDS; at += strlen(text + at) + 1)
        words[count++] = text + at;
    parse_init(&parse, &root);
    if (parse_words(&parse, count, words, &err) == PARSE_DONE) {
        struct command_context context = {.parse = &parse};

        if (parse_finish(&parse, NULL, &err) == 0 && parse_command(&parse) == &cmd_debug_reduce) {
            const struct debug_reduce_settings *settings = parse.settings;

            debug_session_settings(&context, &settings->debug, &settings->file);
        }
    }
    parse_release(&parse);
    free(text);
    return 0;
}
