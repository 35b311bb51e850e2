/* backend/trtexec/words.c: see words.h. */
#include "backend/trtexec/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void trtexec_words_init(struct trtexec_words *words, const struct tensorrt_settings *settings, struct arena *arena)
{
    *words = (struct trtexec_words){.settings = settings, .arena = arena};
}

void trtexec_words_release(struct trtexec_words *words)
{
    free(words->list.items);
}

int trtexec_words_finish(struct trtexec_words *words, struct error *err)
{
    if (words->refusal.code != 0) {
        if (err != NULL)
            *err = words->refusal;
        return words->refusal.code;
    }
    *VECTOR_APPEND(&words->list) = NULL;
    words->list.count--;
    return 0;
}

void trtexec_words_add(struct trtexec_words *words, const char *word)
{
    *VECTOR_APPEND(&words->list) = word;
}

void trtexec_words_refuse(struct trtexec_words *words, enum error_code code, const char *format, ...)
{
    va_list args;

    if (words->refusal.code != 0)
        return;
    words->refusal.code = code;
    va_start(args, format);
    vsnprintf(words->refusal.message, sizeof(words->refusal.message), format, args);
    va_end(args);
}

bool trtexec_words_require(struct trtexec_words *words, struct trtexec_wish wish)
{
    struct error refusal;

    if (trtexec_require(words->settings->program, wish.option, wish.wish, wish.instead, &refusal) == 0)
        return true;
    if (words->refusal.code == 0)
        words->refusal = refusal;
    return false;
}

void trtexec_words_flag(struct trtexec_words *words, bool wanted, struct trtexec_wish wish)
{
    if (wanted && trtexec_words_require(words, wish))
        trtexec_words_add(words, wish.option);
}

void trtexec_words_value(struct trtexec_words *words, const char *value, struct trtexec_wish wish)
{
    if (value != NULL && trtexec_words_require(words, wish))
        trtexec_words_add(words, arena_printf(words->arena, "%s=%s", wish.option, value));
}

void trtexec_words_next_item(struct string_builder *text)
{
    if (text->size > 0 && text->data[text->size - 1] != '=')
        string_add_char(text, ',');
}

void trtexec_words_list(struct trtexec_words *words, struct string_builder *text)
{
    if (text->size > 0 && text->data[text->size - 1] != '=')
        trtexec_words_add(words, arena_strdup(words->arena, text->data));
    string_release(text);
}

bool trtexec_words_check_name(struct trtexec_words *words, const char *name, const char *wish)
{
    if (strpbrk(name, ",'") == NULL && name[0] != '\0')
        return true;
    trtexec_words_refuse(words, ERR_UNSUPPORTED,
                         "%s: trtexec cannot be given the name '%s', since it is empty or holds a comma or a quote; "
                         "give it another one",
                         wish, name);
    return false;
}

void trtexec_words_names(struct trtexec_words *words, const struct words *names, struct trtexec_wish wish)
{
    struct string_builder text;

    if (names->count == 0 || !trtexec_words_require(words, wish))
        return;
    string_init(&text);
    string_add_format(&text, "%s=", wish.option);
    for (size_t i = 0; i < names->count; i++) {
        if (!trtexec_words_check_name(words, names->items[i], wish.wish))
            break;
        trtexec_words_next_item(&text);
        string_add(&text, names->items[i]);
    }
    trtexec_words_list(words, &text);
}
