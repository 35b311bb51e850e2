/* cli/parse/launcher_words.c: see launcher_words.h. */
#include "cli/parse/launcher_words.h"

#include <string.h>

#include "base/container/arena.h"
#include "base/text/string_builder.h"
#include "cli/parse/parser.h"

#define BLANKS " \t\n"

/* Reads the word that begins at `*at`, up to the blank behind it. False when a quote is not closed. */
static bool read_word(const char **at, struct string_builder *ret)
{
    char quote = '\0';
    const char *rest = *at;

    string_clear(ret);
    string_add(ret, "");
    for (; *rest != '\0' && (quote != '\0' || strchr(BLANKS, *rest) == NULL); rest++) {
        if (quote != '\0' && *rest == quote)
            quote = '\0';
        else if (quote == '\0' && (*rest == '\'' || *rest == '"'))
            quote = *rest;
        else if (*rest == '\\' && quote != '\'' && rest[1] != '\0')
            string_add_char(ret, *++rest);
        else
            string_add_char(ret, *rest);
    }
    *at = rest;
    return quote == '\0';
}

int convert_launcher(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    const char *line = words.items[0];
    const char **items = arena_alloc_zero(parse_arena(parse), strlen(line) / 2 + 2, sizeof(*items));
    struct string_builder word;
    size_t count = 0;
    bool closed = true;

    string_init(&word);
    for (const char *at = line + strspn(line, BLANKS); *at != '\0' && closed; at += strspn(at, BLANKS)) {
        closed = read_word(&at, &word);
        items[count++] = arena_strdup(parse_arena(parse), word.size > 0 ? word.data : "");
    }
    string_release(&word);
    if (!closed)
        return error_set(err, ERR_INVALID, "%s: a quote is not closed: %s", spelling, line);
    if (count == 0)
        return error_set(err, ERR_INVALID, "%s: there is no command in it", spelling);
    *(struct words *)field = (struct words){items, count};
    return 0;
}
