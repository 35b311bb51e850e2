/* fuzz_completion.c: any line of bash, completed. The input is what stands before the cursor, then NUL, then the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/completion/candidates.h"
#include "cli/completion/shell_words.h"
#include "target.h"

#define LONGEST_LINE 4096

static const struct command *const tools[] = {&cmd_run, &cmd_debug, &cmd_help};
static const struct command root = {.name = "polygraphy", .subcommands = tools, .subcommand_count = ARRAY_LEN(tools)};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = memory_copy(data, size < LONGEST_LINE ? size : LONGEST_LINE);
    size_t before = strlen(line);
    const char *behind = before < size && before < LONGEST_LINE ? line + before + 1 : "";
    struct candidates candidates;
    struct shell_words words;
    struct string_builder reply;
    struct arena arena;

    arena_init(&arena);
    string_init(&reply);
    shell_words_split(line, behind, " \t\n\"'><=;|&(:", &arena, &words);
    candidates_find(&root, (struct words){words.words.items, words.words.count}, words.index, &candidates);
    for (size_t i = 0; i < candidates.count; i++)
        shell_words_add_reply(&words, candidates.items[i].word, &reply);
    candidates_release(&candidates);
    shell_words_release(&words);
    string_release(&reply);
    arena_release(&arena);
    free(line);
    return 0;
}
