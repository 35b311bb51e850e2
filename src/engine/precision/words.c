/* engine/precision/words.c: see words.h. */
#include "engine/precision/words.h"

#include <string.h>

#include "base/memory.h"

static const struct {
    enum precision precision;
    const char *word;
} flags[] = {{PRECISION_TF32, "--tf32"},
             {PRECISION_BFLOAT16, "--bf16"},
             {PRECISION_FLOAT16, "--fp16"},
             {PRECISION_INT8, "--int8"}};

#define FASTEST "--precision-policy fastest"
#define PREFER "--precision-constraints prefer"
#define OBEY "--precision-constraints obey"
#define LAYER "--layer-precisions "
#define TENSOR "--tensor-dtypes "

static void add_override_words(const char *option, const struct precision_overrides *overrides,
                               struct tactic_options *ret)
{
    for (size_t i = 0; i < overrides->count; i++) {
        SCOPED_STRING(word);

        string_add_format(&word, "%s%s:%s", option, overrides->items[i].name, data_type_name(overrides->items[i].type));
        tactic_options_add(ret, (struct text){word.data, word.size});
    }
}

void precision_words_of(const struct precision_settings *settings, struct tactic_options *ret)
{
    ret->known = true;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (settings->enabled[flags[i].precision])
            tactic_options_add(ret, text_of(flags[i].word));
    if (settings->policy == PRECISION_POLICY_FASTEST)
        tactic_options_add(ret, text_of(FASTEST));
    if (settings->constraints != PRECISION_CONSTRAINTS_NONE) {
        tactic_options_add(ret, text_of(settings->constraints == PRECISION_CONSTRAINTS_OBEY ? OBEY : PREFER));
        add_override_words(LAYER, &settings->layers, ret);
    }
    add_override_words(TENSOR, &settings->tensors, ret);
}

/* "NAME:TYPE"; names may contain colons. */
static bool read_override(const char *words, struct arena *arena, struct precision_override *ret)
{
    const char *colon = strrchr(words, ':');

    if (!colon)
        return false;
    ret->name = arena_text(arena, (struct text){words, (size_t)(colon - words)});
    ret->type = data_type_parse(text_of(colon + 1));
    return ret->type != DATA_UNDEFINED;
}

static bool read_precision_word(const char *word, struct arena *arena, struct precision_override *layers,
                                struct precision_override *tensors, struct precision_settings *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(word, flags[i].word) == 0)
            return ret->enabled[flags[i].precision] = true;
    if (text_begins_with(text_of(word), LAYER))
        return read_override(word + strlen(LAYER), arena, &layers[ret->layers.count++]);
    if (text_begins_with(text_of(word), TENSOR))
        return read_override(word + strlen(TENSOR), arena, &tensors[ret->tensors.count++]);
    if (strcmp(word, FASTEST) == 0)
        ret->policy = PRECISION_POLICY_FASTEST;
    else if (strcmp(word, OBEY) == 0)
        ret->constraints = PRECISION_CONSTRAINTS_OBEY;
    else if (strcmp(word, PREFER) == 0)
        ret->constraints = PRECISION_CONSTRAINTS_PREFER;
    else
        return false;
    return true;
}

int precision_words_read(const struct tactic_options *words, struct arena *arena, struct precision_settings *ret,
                         struct error *err)
{
    struct precision_override *layers = arena_alloc_zero(arena, words->count, sizeof(*layers));
    struct precision_override *tensors = arena_alloc_zero(arena, words->count, sizeof(*tensors));
    struct precision_settings settings = {
        .enabled = {[PRECISION_FLOAT32] = true}, .layers.items = layers, .tensors.items = tensors};

    for (size_t i = 0; i < words->count; i++)
        if (!read_precision_word(words->items[i], arena, layers, tensors, &settings))
            return error_set(err, ERR_UNSUPPORTED, "'%s' is not a precision option of this program", words->items[i]);
    *ret = settings;
    return 0;
}
