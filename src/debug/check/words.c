/* debug/check/words.c: see words.h. */
#include "debug/check/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"

static const char *const placeholders[CANDIDATE_FILES] = {
    [CANDIDATE_ARTIFACT] = "{artifact}",
    [CANDIDATE_INPUTS] = "{inputs}",
    [CANDIDATE_GOLDEN] = "{golden}",
    [CANDIDATE_INFORMATION] = "{information}",
};

const char *check_words_placeholder(enum candidate_file file)
{
    return placeholders[file];
}

/* Whether a path can begin behind this character, or end in front of it. */
static bool parts_paths(char character)
{
    return character == '\0' || strchr(" \t\n'\"`=:,;()<>|&", character) != NULL;
}

/* How much of `at`, which is in the word that begins at `start`, is the usual path; 0: none. "./" in front of it is
 * part of it. */
static size_t usual_path_at(const char *start, const char *at, const char *usual)
{
    size_t dot = strncmp(at, "./", 2) == 0 && strncmp(usual, "./", 2) != 0 ? 2 : 0;
    size_t length = strlen(usual);

    if (at > start && !parts_paths(at[-1]))
        return 0;
    return strncmp(at + dot, usual, length) == 0 && parts_paths(at[dot + length]) ? dot + length : 0;
}

/* The file that is named at `at`, and how long its name is there; CANDIDATE_FILES: none. */
static enum candidate_file file_at(const char *start, const char *at, const struct candidate_paths *usual,
                                   size_t *ret_length)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++) {
        size_t length = strlen(placeholders[i]);

        if (usual->items[i] == NULL)
            continue;
        *ret_length = strncmp(at, placeholders[i], length) == 0 ? length : usual_path_at(start, at, usual->items[i]);
        if (*ret_length > 0)
            return i;
    }
    return CANDIDATE_FILES;
}

bool check_words_name(const char *const *words, size_t count, const struct candidate_paths *usual,
                      enum candidate_file file)
{
    size_t length;

    for (size_t i = 0; i < count; i++)
        for (const char *at = words[i]; *at != '\0'; at++)
            if (file_at(words[i], at, usual, &length) == file)
                return true;
    return false;
}

/* Inside which quotes of a shell what follows this character stands; 0: none. `*escaped`: it stands for itself. */
static char quotes_behind(char quotes, char character, bool *escaped)
{
    if (*escaped || (character == '\\' && quotes != '\'')) {
        *escaped = !*escaped;
        return quotes;
    }
    if (character == quotes)
        return '\0';
    return quotes == '\0' && (character == '\'' || character == '"') ? character : quotes;
}

/* Adds a path so that a shell takes it as it is, inside of `quotes` or of none. */
static void add_for_shell(struct string_builder *ret, const char *path, char quotes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+=";

    for (; *path != '\0'; path++) {
        if (quotes == '\'' && *path == '\'')
            string_add(ret, "'\\'");
        else if ((quotes == '"' && strchr("\"$`\\", *path) != NULL) ||
                 (quotes == '\0' && (unsigned char)*path < 0x80 && strchr(plain, *path) == NULL))
            string_add_char(ret, '\\');
        string_add_char(ret, *path);
    }
}

static char *word_for(const char *word, bool shell, const struct candidate_paths *usual,
                      const struct candidate_paths *actual)
{
    struct string_builder ret;
    const char *at = word;
    bool escaped = false;
    char quotes = '\0';

    string_init(&ret);
    string_add(&ret, ""); /* an empty word is one, too */
    while (*at != '\0') {
        size_t length;
        enum candidate_file file = file_at(word, at, usual, &length);

        if (file == CANDIDATE_FILES) {
            quotes = quotes_behind(quotes, *at, &escaped);
            string_add_char(&ret, *at++);
            continue;
        }
        /* At its usual path a file is called as the user has called it. */
        if (*at != '{' && strcmp(actual->items[file], usual->items[file]) == 0)
            string_add_bytes(&ret, at, length);
        else if (shell)
            add_for_shell(&ret, actual->items[file], quotes);
        else
            string_add(&ret, actual->items[file]);
        at += length;
    }
    return string_take(&ret);
}

char **check_words_for(const char *const *words, size_t count, bool shell, const struct candidate_paths *usual,
                       const struct candidate_paths *actual)
{
    char **ret = memory_alloc_zero(count + 1, sizeof(*ret));

    for (size_t i = 0; i < count; i++)
        ret[i] = word_for(words[i], shell && i + 1 == count, usual, actual);
    return ret;
}

void check_words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}
