/* backend/trtexec/words.h: a command line of trtexec's that grows word by word, and is refused as a whole where a
 * version lacks an option: so that who adds words need not look at each of them.
 */
#ifndef BACKEND_TRTEXEC_WORDS_H
#define BACKEND_TRTEXEC_WORDS_H

#include "backend/tensorrt/settings.h"
#include "backend/trtexec/program.h"

struct trtexec_words {
    const struct tensorrt_settings *settings;
    struct arena *arena;
    struct {
        const char **items; /* NULL-terminated once finished */
        size_t count, capacity;
    } list;
    struct error refusal; /* the first one; code 0: none */
};

void trtexec_words_init(struct trtexec_words *words, const struct tensorrt_settings *settings, struct arena *arena);
void trtexec_words_release(struct trtexec_words *words);

/* A word as it is. It has to outlive the words. */
void trtexec_words_add(struct trtexec_words *words, const char *word);

/* Remembers why nothing can come of this, unless something is remembered already. */
void trtexec_words_refuse(struct trtexec_words *words, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An option of the user's: what is asked for here is `wish`, trtexec calls it `option`. */
struct trtexec_wish {
    const char *wish, *option;
    const char *instead; /* what to do where it is not there; may be NULL */
};

/* Whether this version has the option; else that is refused. */
bool trtexec_words_require(struct trtexec_words *words, struct trtexec_wish wish);

/* "--option", when wanted; "--option=value", unless that is NULL. */
void trtexec_words_flag(struct trtexec_words *words, bool wanted, struct trtexec_wish wish);
void trtexec_words_value(struct trtexec_words *words, const char *value, struct trtexec_wish wish);

/* Whether trtexec takes this name, which somebody has typed after `wish`, in a list; else that is refused. */
bool trtexec_words_check_name(struct trtexec_words *words, const char *name, const char *wish);

/* "--option=a,b", unless there is none. */
void trtexec_words_names(struct trtexec_words *words, const struct words *names, struct trtexec_wish wish);

/* A list that is put together in `text`, which begins with "--option=": a comma where one is due; and at the end the
 * word, unless nothing was added. `text` is released. */
void trtexec_words_next_item(struct string_builder *text);
void trtexec_words_list(struct trtexec_words *words, struct string_builder *text);

/* 0, or the first refusal of what was added: ERR_UNSUPPORTED for what this version has not, ERR_INVALID for what makes
 * no sense. */
int trtexec_words_finish(struct trtexec_words *words, struct error *err);

#endif
