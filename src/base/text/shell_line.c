/* base/text/shell_line.c: see shell_line.h. */
#include "base/text/shell_line.h"

#include <string.h>

void shell_quotes_step(struct shell_quotes *quotes, char character)
{
    if (quotes->escaped || (character == '\\' && quotes->quotes != '\'')) {
        quotes->escaped = !quotes->escaped;
        return;
    }
    if (character == quotes->quotes)
        quotes->quotes = '\0';
    else if (quotes->quotes == '\0' && (character == '\'' || character == '"'))
        quotes->quotes = character;
}

void shell_add_word(struct string_builder *line, const char *word, const struct shell_quotes *quotes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+=";

    for (; *word != '\0'; word++) {
        if (quotes->quotes == '\0' && *word == '\n') { /* backslash and newline would be removed by the shell */
            string_add(line, "'\n'");
            continue;
        }
        if (quotes->quotes == '\'' && *word == '\'')
            string_add(line, "'\\'");
        else if ((quotes->quotes == '"' && strchr("\"$`\\", *word) != NULL) ||
                 (quotes->quotes == '\0' && (unsigned char)*word < 0x80 && strchr(plain, *word) == NULL))
            string_add_char(line, '\\');
        string_add_char(line, *word);
    }
}

void shell_add_argument(struct string_builder *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

    if (line->size > 0)
        string_add_char(line, ' ');
    if (*word && word[strspn(word, plain)] == '\0') {
        string_add(line, word);
        return;
    }
    string_add_char(line, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            string_add(line, "'\\''");
        else
            string_add_char(line, *c);
    }
    string_add_char(line, '\'');
}
