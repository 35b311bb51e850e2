/* cli/debug/quantization/lists.c: see lists.h. */
#include "cli/debug/quantization/lists.h"

#include <string.h>

#include "base/file/file.h"
#include "base/text/string_builder.h"

/* ---- Words ---- */

/* Appends a Python string; non-ASCII characters are UTF-8. */
static void add_string(struct string_builder *text, struct text word)
{
    string_add_char(text, '"');
    for (size_t i = 0; i < word.size; i++) {
        unsigned char c = (unsigned char)word.data[i];

        if (c == '"' || c == '\\')
            string_add_format(text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            string_add_format(text, "\\x%02x", c);
        else
            string_add_char(text, (char)c);
    }
    string_add_char(text, '"');
}

/* Appends a Python regular expression that matches exactly this name. */
static void add_pattern(struct string_builder *text, struct text word)
{
    string_add_char(text, '^');
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] != '\0' && strchr(".^$*+?{}[]\\|()", word.data[i]) != NULL)
            string_add_char(text, '\\');
        string_add_char(text, word.data[i]);
    }
    string_add_char(text, '$');
}

/* Appends a word for the shell. */
static void add_shell_word(struct string_builder *text, struct text word)
{
    string_add_char(text, '\'');
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '\'')
            string_add(text, "'\\''");
        else
            string_add_char(text, word.data[i]);
    }
    string_add_char(text, '\'');
}

static struct text pattern_of(struct arena *arena, struct text name)
{
    SCOPED_STRING(pattern);

    add_pattern(&pattern, name);
    return text_of(arena_strdup(arena, pattern.data));
}

/* ---- Lists ---- */

static const char *list_names(struct arena *arena, const struct quantizer_exclusion *exclusion, bool patterns)
{
    SCOPED_STRING(text);

    string_add_char(&text, '[');
    for (size_t i = 0; i < exclusion->names.count; i++) {
        struct text name = exclusion->names.items[i];

        string_add(&text, i > 0 ? ", " : "");
        add_string(&text, patterns ? pattern_of(arena, name) : name);
    }
    string_add_char(&text, ']');
    return arena_strdup(arena, text.data);
}

/* NULL if a name cannot be on a command line. */
static const char *model_optimizer_words(struct arena *arena, const struct quantizer_exclusion *exclusion)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < exclusion->names.count; i++)
        for (size_t k = 0; k < exclusion->names.items[i].size; k++)
            if ((unsigned char)exclusion->names.items[i].data[k] < 0x20)
                return NULL;
    string_add(&text, "python -m modelopt.onnx.quantization ... --nodes_to_exclude");
    for (size_t i = 0; i < exclusion->names.count; i++) {
        string_add_char(&text, ' ');
        add_shell_word(&text, pattern_of(arena, exclusion->names.items[i]));
    }
    return arena_strdup(arena, text.data);
}

/* ---- Overrides ---- */

/* Name of the type in ONNX Runtime's quantizer; NULL: none. */
static const char *type_name_of(enum data_type type, bool wide)
{
    switch (type) {
    case DATA_INT8:
        return wide ? "QInt16" : "QInt8";
    case DATA_UINT8:
        return wide ? "QUInt16" : "QUInt8";
    case DATA_INT4:
        return wide ? "QInt16" : "QInt4";
    case DATA_UINT4:
        return wide ? "QUInt16" : "QUInt4";
    default:
        return NULL;
    }
}

/* Name of the float tensor in the model to quantize. */
static struct text float_name(const struct quantization_subject *subject, size_t quantizer)
{
    const struct quantizer_twin *twin = quantization_twin(subject, quantizer);

    return twin != NULL && twin->tensor != VALUE_NONE
               ? subject->float_model->values.items[twin->tensor].name
               : subject->model->values.items[subject->quantizers.items[quantizer].tensor].name;
}

static void add_override(const struct quantization_subject *subject, const struct quantization_answer *answer,
                         size_t quantizer, struct string_builder *text)
{
    bool wide = answer->repair.how[quantizer] == REFINE_16_BITS;
    const char *type = type_name_of(subject->quantizers.items[quantizer].type, wide);

    if (type == NULL)
        return;
    string_add(text, text->size > 0 ? ", " : "");
    add_string(text, float_name(subject, quantizer));
    string_add_format(text, ": [{\"quant_type\": QuantType.%s", type);
    if (answer->axes[quantizer] >= 0)
        string_add_format(text, ", \"axis\": %lld", (long long)answer->axes[quantizer]);
    string_add(text, "}]");
}

static const char *list_overrides(const struct quantization_subject *subject, const struct quantization_answer *answer,
                                  struct arena *arena)
{
    SCOPED_STRING(text);
    const char *ret = NULL;

    for (size_t i = 0; i < subject->quantizers.count; i++)
        if (answer->repair.how[i] == REFINE_16_BITS || answer->repair.how[i] == REFINE_PER_CHANNEL)
            add_override(subject, answer, i, &text);
    if (text.size > 0)
        ret = arena_printf(arena, "{%s\"TensorQuantOverrides\": {%s}}",
                           answer->has_microsoft ? "\"UseQDQContribOps\": True, " : "", text.data);
    return ret;
}

/* ---- All of it ---- */

void quantizer_lists_make(const struct quantization_subject *subject, const struct quantization_answer *answer,
                          struct quantizer_lists *ret)
{
    static const struct {
        const char *name, *key, *call;
        enum exclusion_style style;
        bool patterns;
    } programs[] = {
        [QUANTIZER_ONNXRUNTIME] = {"ONNX Runtime", "onnxruntime", "quantize_static(..., nodes_to_exclude=%s)",
                                   EXCLUSION_BOTH_SIDES, false},
        [QUANTIZER_MODEL_OPTIMIZER] = {"NVIDIA Model Optimizer", "modelopt",
                                       "modelopt.onnx.quantization.quantize(..., nodes_to_exclude=%s)",
                                       EXCLUSION_READERS, true},
        [QUANTIZER_NNCF] = {"nncf", "nncf", "nncf.quantize(..., ignored_scope=nncf.IgnoredScope(names=%s))",
                            EXCLUSION_READERS, false},
    };

    *ret = (struct quantizer_lists){.overrides = NULL};
    arena_init(&ret->arena);
    for (size_t i = 0; i < QUANTIZER_PROGRAMS; i++) {
        const struct quantizer_exclusion *exclusion = &answer->exclusions[programs[i].style];
        const char *names = list_names(&ret->arena, exclusion, programs[i].patterns);
        const char *at = strstr(programs[i].call, "%s");

        ret->programs[i].name = programs[i].name;
        ret->programs[i].key = programs[i].key;
        ret->programs[i].style = programs[i].style;
        ret->programs[i].names = names;
        ret->programs[i].call = arena_printf(&ret->arena, "%.*s%s%s", (int)(at - programs[i].call), programs[i].call,
                                             names, at + strlen("%s"));
    }
    ret->programs[QUANTIZER_MODEL_OPTIMIZER].words =
        model_optimizer_words(&ret->arena, &answer->exclusions[EXCLUSION_READERS]);
    ret->overrides = list_overrides(subject, answer, &ret->arena);
}

void quantizer_lists_release(struct quantizer_lists *lists)
{
    arena_release(&lists->arena);
}

int quantizer_lists_save(const struct quantizer_lists *lists, const char *model, const char *path, struct error *err)
{
    SCOPED_STRING(text);

    string_add(&text, "# Nodes not to quantize in ");
    string_add_visible(&text, text_of(model));
    string_add(&text, ", found by polygraphy debug quantization.\n");
    for (size_t i = 0; i < QUANTIZER_PROGRAMS; i++) {
        string_add_format(&text, "\n# %s: %s\n", lists->programs[i].name, lists->programs[i].call);
        if (lists->programs[i].words != NULL)
            string_add_format(&text, "# %s\n", lists->programs[i].words);
        string_add_format(&text, "%s_nodes_to_exclude = %s\n", lists->programs[i].key, lists->programs[i].names);
    }
    if (lists->overrides != NULL)
        string_add_format(&text,
                          "\n# ONNX Runtime: quantize_static(..., extra_options=...), instead of excluding them\n"
                          "from onnxruntime.quantization import QuantType\n\nonnxruntime_extra_options = %s\n",
                          lists->overrides);
    return file_write(path, text.data, text.size, FILE_DURABLE, err);
}
