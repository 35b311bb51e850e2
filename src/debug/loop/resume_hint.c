/* debug/loop/resume_hint.c: see resume_hint.h. */
#include "debug/loop/resume_hint.h"

#include <string.h>

#include "base/text/string_builder.h"

#define LOAD_REPLAY "--load-debug-replay"

/* Adds a word so that a POSIX shell reads it as it is. */
static void add_quoted(struct string_builder *builder, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

    if (*word && word[strspn(word, plain)] == '\0') {
        string_add(builder, word);
        return;
    }
    string_add_char(builder, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            string_add(builder, "'\\''");
        else
            string_add_char(builder, *c);
    }
    string_add_char(builder, '\'');
}

static void add_word(struct string_builder *builder, const char *word)
{
    if (builder->size > 0)
        string_add_char(builder, ' ');
    add_quoted(builder, word);
}

static bool begins_with(const char *word, const char *beginning)
{
    return strncmp(word, beginning, strlen(beginning)) == 0;
}

/* How many words the option --load-debug-replay takes at this place: 0 when it is something else. */
static size_t load_replay_words(const char *const *words)
{
    if (begins_with(words[0], LOAD_REPLAY "="))
        return 1;
    if (strcmp(words[0], LOAD_REPLAY) == 0)
        return words[1] ? 2 : 1;
    return 0;
}

static bool is_check(const char *word)
{
    return strcmp(word, "--check") == 0 || strcmp(word, "--check-inference") == 0 || begins_with(word, "--check=") ||
           begins_with(word, "--check-inference=");
}

char *resume_hint_make(const char *const *command_line, const char *replay, bool options_after_check)
{
    struct string_builder builder;
    bool placed = false;
    const char *const *word = command_line;

    string_init(&builder);
    while (*word) {
        if (!placed && is_check(*word)) {
            add_word(&builder, LOAD_REPLAY);
            add_word(&builder, replay);
            placed = true;
        }
        size_t left_out = !placed || options_after_check ? load_replay_words(word) : 0;
        if (left_out > 0) {
            word += left_out;
            continue;
        }
        add_word(&builder, *word++);
    }
    if (!placed) {
        add_word(&builder, LOAD_REPLAY);
        add_word(&builder, replay);
    }
    return string_take(&builder);
}
