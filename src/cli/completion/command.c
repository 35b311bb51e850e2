/* cli/completion/command.c: `polygraphy completion`: the scripts with which shells query this program, and the
 * answers. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "cli/commands.h"
#include "cli/completion/candidates.h"
#include "cli/completion/shell_words.h"
#include "cli/options/groups.h"
#include "cli/terminal/log_sink.h"

/* The program contains the scripts byte for byte. The assembler finds them relative to the root of the tree, where the
 * compiler runs. */
#define EMBED(name, path)                                                                                              \
    __asm__(".section .rodata\n"                                                                                       \
            ".globl " name "\n.hidden " name "\n" name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n")

EMBED("completion_bash", "src/cli/completion/polygraphy.bash");
EMBED("completion_zsh", "src/cli/completion/polygraphy.zsh");
EMBED("completion_fish", "src/cli/completion/polygraphy.fish");

extern const char completion_bash[], completion_zsh[], completion_fish[];

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

struct completion_settings {
    struct common_settings common;

    /* its own */
    enum shell shell;
    struct words words, line;
};

#define ROW(member, ...) OPTION_ROW(struct completion_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(shell, .names = {"shell"}, .kind = OPTION_MAYBE, .type = OPTION_CHOICE, .choices = shells,
        .help = "the shell whose script is printed"),
    ROW(words, .names = {"--words"}, .kind = OPTION_REST, .value_name = "N WORD",
        .help = "for the scripts: list the completions of word N of a command line. The words follow; word 0 is the "
                "program. Each line is a word, a tab, and its description. Lines that begin with a tab list other "
                "candidates: files with one of these extensions, folders, or words of the command that begins at that "
                "number"),
    ROW(line, .names = {"--line"}, .kind = OPTION_REST, .value_name = "BREAKS BEFORE BEHIND",
        .help = "the same for bash: COMP_WORDBREAKS, then the line before and after the cursor; the output has the "
                "form that readline inserts"),
};

static const struct option_group completion_options = {
    .title = "Completion",
    OPTION_ROWS(options),
};

/* ---- Answers ---- */

/* Shells insert no blank after an incomplete word. */
static bool goes_on(const char *word)
{
    size_t length = strlen(word);

    return length > 0 && strchr(":=", word[length - 1]) != NULL;
}

/* Prints the other candidates. `typed` is the prefix of a path, `command` the index where another command begins. Words
 * with line breaks are omitted, because the format consists of lines. */
static void add_others(const struct candidates *candidates, const char *typed, const char *command,
                       struct string_builder *ret)
{
    const char *extensions = candidates->extensions != NULL ? candidates->extensions : "";

    if (strchr(typed, '\n') != NULL || strchr(command, '\n') != NULL)
        return;
    if (candidates->folders)
        string_add_format(ret, "\tfolders\t%s\n", typed);
    if (candidates->files)
        string_add_format(ret, "\tfiles\t%s\t%s\n", extensions, typed);
    if (candidates->command != SIZE_MAX)
        string_add_format(ret, "\tcommand\t%s\n", command);
}

static int answer_words(const struct command *root, struct words given, struct string_builder *ret, struct error *err)
{
    struct candidates candidates;
    int64_t index;
    char number[24];

    if (given.count == 0 || !number_parse_integer(text_of(given.items[0]), &index) || index < 0)
        return error_set(err, ERR_INVALID, "--words: write the number of the word, then all words");
    candidates_find(root, (struct words){given.items + 1, given.count - 1}, (size_t)index, &candidates);
    for (size_t i = 0; i < candidates.count; i++)
        string_add_format(ret, "%s\t%s\n", candidates.items[i].word, candidates.items[i].description);
    snprintf(number, sizeof(number), "%zu", candidates.command);
    add_others(&candidates, "", number, ret);
    candidates_release(&candidates);
    return 0;
}

/* Prints the line up to the first word of another command. */
static const char *line_before(const struct shell_words *words, size_t word, const char *line, struct arena *arena)
{
    if (word > words->index)
        return "";
    return arena_text(arena, (struct text){line, (size_t)(words->starts.items[word] - line)});
}

static int answer_line(const struct command *root, struct words given, struct string_builder *ret, struct error *err)
{
    struct candidates candidates SCOPED(candidates_release) = {0};
    struct shell_words words SCOPED(shell_words_release) = {0};
    SCOPED_ARENA(arena);
    const char *typed;
    bool open = false;

    if (given.count != 3)
        return error_set(err, ERR_INVALID, "--line: write COMP_WORDBREAKS, then the line in two parts");
    shell_words_split(given.items[1], given.items[2], given.items[0], &arena, &words);
    candidates_find(root, (struct words){words.words.items, words.words.count}, words.index, &candidates);
    for (size_t i = 0; i < candidates.count && !words.redirected; i++) {
        shell_words_add_reply(&words, candidates.items[i].word, ret);
        string_add_char(ret, '\n');
        open = open || goes_on(candidates.items[i].word);
    }
    typed = words.words.items[words.index];
    typed += words.kept;
    if (words.redirected)
        string_add_format(ret, "\tfiles\t\t%s\n", typed);
    else
        add_others(&candidates, typed, line_before(&words, candidates.command, given.items[1], &arena), ret);
    if (open)
        string_add(ret, "\topen\n");
    return 0;
}

/* ---- The command ---- */

static int completion_run(const struct command_context *context, const struct completion_settings *values,
                          struct error *err)
{
    static const char *const scripts[] = {completion_bash, completion_zsh, completion_fish};
    const struct command *root = context->parse->path[0];
    SCOPED_STRING(text);
    int rc = 0;

    if (values->words.items != NULL)
        rc = answer_words(root, values->words, &text, err);
    else if (values->line.items != NULL)
        rc = answer_line(root, values->line, &text, err);
    else if (parse_positional_word(context->parse, "shell") != NULL)
        string_add(&text, scripts[values->shell]);
    else
        rc = error_set(err, ERR_INVALID, "the shell is missing: bash, zsh or fish");
    if (rc == 0)
        log_sink_print(context->sink, (struct text){text.data, text.size});
    return rc;
}

DEFINE_COMMAND_RUN(completion_run, struct completion_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct completion_settings, common.logging, logging_options),
    {&completion_options, 0},
};

const struct command cmd_completion = {
    .name = "completion",
    .summary = "complete command lines in bash, zsh and fish",
    .description =
        "Prints a script with which a shell completes polygraphy's command lines: commands, options, choices, files of "
        "the right type, and names of tensors and nodes of the model on the line. Installed packages already contain "
        "the scripts.\n\nbash: `source <(polygraphy completion bash)` for the current shell; with the package "
        "bash-completion, `polygraphy completion bash > ~/.local/share/bash-completion/completions/polygraphy` for new "
        "shells.\n\nzsh: `source <(polygraphy completion zsh)` after `compinit`, for example in ~/.zshrc; or "
        "`polygraphy completion zsh > FOLDER/_polygraphy`, where FOLDER is in $fpath.\n\nfish: `polygraphy completion "
        "fish | source` for the current shell, or `polygraphy completion fish > "
        "~/.config/fish/completions/polygraphy.fish` for new shells.\n\nThe scripts query this program, which reads "
        "the option tables and the index of the model. Nothing is loaded, run or written.",
    .example = "source <(polygraphy completion bash)",
    COMMAND_GROUPS(groups),
    .essential = "",
    COMMAND_RUN(completion_run),
};
