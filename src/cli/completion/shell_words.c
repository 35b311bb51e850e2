/* cli/completion/shell_words.c: see shell_words.h. */
#include "cli/completion/shell_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct shell_word_reader {
    const char *at;
    const char *breaks;
    struct arena *arena;
};

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n';
}

/* The length of a redirection such as "2>>" at the beginning of a word; 0: none. */
static size_t redirection_length(const char *word)
{
    size_t front = strspn(word, "0123456789&"), length = strspn(word + front, "<>&|");

    return length > 0 && (word[front] == '<' || word[front] == '>') ? front + length : 0;
}

/* Reads a word and removes its quotes; records in `ret` the quoting state if the word ends the line. */
static const char *read_word(struct shell_word_reader *reader, struct shell_words *ret)
{
    SCOPED_STRING(word);
    struct shell_quotes quotes = {0};
    const char *text;

    ret->kept = 0;
    for (; *reader->at != '\0' && (!is_blank(*reader->at) || quotes.escaped || quotes.quotes != '\0'); reader->at++) {
        struct shell_quotes old = quotes;
        bool is_syntax, inside;

        shell_quotes_step(&quotes, *reader->at);
        inside = old.quotes != '\0' && quotes.quotes != '\0';
        is_syntax = quotes.quotes != old.quotes || (quotes.escaped && !old.escaped);
        if (old.escaped && old.quotes == '"' && strchr("\"$`\\", *reader->at) == NULL)
            string_add_char(&word, '\\');
        if (!is_syntax)
            string_add_char(&word, *reader->at);
        if (!inside && !old.escaped && !quotes.escaped &&
            (quotes.quotes != '\0' || strchr(reader->breaks, *reader->at) != NULL))
            ret->kept = word.size;
    }
    ret->quotes = quotes;
    text = arena_text(reader->arena, (struct text){word.data, word.size});
    return text;
}

static void add_word(struct shell_words *ret, const char *word, const char *start)
{
    *VECTOR_APPEND(&ret->words) = word;
    *VECTOR_APPEND(&ret->starts) = start;
}

static void split_before(struct shell_word_reader *reader, struct shell_words *ret)
{
    bool in_word = false;

    while (*reader->at != '\0') {
        const char *start = reader->at, *word;
        size_t skipped = is_blank(*start) ? 1 : redirection_length(start);

        in_word = skipped == 0;
        if (!in_word) {
            ret->redirected = ret->redirected || !is_blank(*start);
            reader->at += skipped;
            continue;
        }
        word = read_word(reader, ret);
        if (*reader->at == '\0' || !ret->redirected)
            add_word(ret, word, start);
        ret->redirected = ret->redirected && *reader->at == '\0';
    }
    if (!in_word) {
        add_word(ret, "", reader->at);
        ret->kept = 0;
        ret->quotes = (struct shell_quotes){0};
    }
    ret->index = ret->words.count - 1;
}

void shell_words_split(const char *before, const char *behind, const char *breaks, struct arena *arena,
                       struct shell_words *ret)
{
    struct shell_word_reader reader = {before, breaks, arena};
    struct shell_words ignored = {.index = 0};

    *ret = (struct shell_words){.index = 0};
    split_before(&reader, ret);
    reader.at = behind;
    while (*reader.at != '\0' && !is_blank(*reader.at)) /* the word without quotes */
        reader.at++;
    while (*reader.at != '\0')
        if (is_blank(*reader.at))
            reader.at++;
        else
            *VECTOR_APPEND(&ret->words) = read_word(&reader, &ignored);
}

void shell_words_release(struct shell_words *words)
{
    free(words->words.items);
    free(words->starts.items);
    *words = (struct shell_words){0};
}

void shell_words_add_reply(const struct shell_words *words, const char *word, struct string_builder *ret)
{
    const struct shell_quotes quotes = {.quotes = words->quotes.quotes};

    shell_add_word(ret, word + (words->kept < strlen(word) ? words->kept : strlen(word)), &quotes);
}
