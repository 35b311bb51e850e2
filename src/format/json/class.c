/* format/json/class.c: reads class members, current and legacy ones. */
#include "format/json/class.h"

#include <string.h>

#include "base/memory.h"

#define LEGACY_PREFIX "__polygraphy_encoded_"
#define LEGACY_MARKER "polygraphy_serialized_json_type"

static const struct {
    const char *name;
    const char *description;
    enum json_class value;
} classes[] = {
    {"ndarray", "an ndarray", JSON_CLASS_ARRAY},
    {"Tensor", "a Tensor", JSON_CLASS_TORCH_TENSOR},
    {"LazyArray", "a LazyArray", JSON_CLASS_LAZY_ARRAY},
    {"LazyNumpyArray", "a LazyArray", JSON_CLASS_LAZY_ARRAY},
    {"FormattedArray", "a FormattedArray", JSON_CLASS_FORMATTED_ARRAY},
    {"IterationResult", "an IterationResult", JSON_CLASS_ITERATION_RESULT},
    {"RunResults", "a RunResults", JSON_CLASS_RUN_RESULTS},
    {"TensorInfo", "a TensorInfo", JSON_CLASS_TENSOR_INFO},
    {"Algorithm", "an Algorithm", JSON_CLASS_ALGORITHM},
    {"TacticReplayData", "a TacticReplayData", JSON_CLASS_TACTIC_REPLAY},
    {"IterationContext", "an IterationContext", JSON_CLASS_ITERATION_CONTEXT},
    {"AccuracyResults", "an AccuracyResults", JSON_CLASS_ACCURACY_RESULTS},
    {"AccuracyResult", "an AccuracyResult", JSON_CLASS_ACCURACY_PART},
    {"OutputCompareResult", "an OutputCompareResult", JSON_CLASS_ACCURACY_PART},
    {"SimpleThreshold", "a SimpleThreshold", JSON_CLASS_ACCURACY_PART},
    {"L2Result", "an L2Result", JSON_CLASS_ACCURACY_PART},
    {"L2Threshold", "an L2Threshold", JSON_CLASS_ACCURACY_PART},
    {"CosineSimilarityResult", "a CosineSimilarityResult", JSON_CLASS_ACCURACY_PART},
    {"CosineSimilarityThreshold", "a CosineSimilarityThreshold", JSON_CLASS_ACCURACY_PART},
    {"PsnrResult", "a PsnrResult", JSON_CLASS_ACCURACY_PART},
    {"PsnrThreshold", "a PsnrThreshold", JSON_CLASS_ACCURACY_PART},
    {"SnrResult", "a SnrResult", JSON_CLASS_ACCURACY_PART},
    {"SnrThreshold", "a SnrThreshold", JSON_CLASS_ACCURACY_PART},
    {"PerceptualMetricsResult", "a PerceptualMetricsResult", JSON_CLASS_ACCURACY_PART},
    {"LpipsThreshold", "an LpipsThreshold", JSON_CLASS_ACCURACY_PART},
    {"NmseResult", "an NmseResult", JSON_CLASS_ACCURACY_PART},
    {"NmseThreshold", "an NmseThreshold", JSON_CLASS_ACCURACY_PART},
};

static enum json_class class_named(struct text name)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (text_equal_string(name, classes[i].name))
            return classes[i].value;
    return JSON_CLASS_UNKNOWN;
}

/* The class of a legacy marker; a marker with an unknown name is an ordinary member. */
static enum json_class legacy_class_of(json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach (object, key, value) {
        bool is_marker = json_is_string(value) && strcmp(json_string_value(value), LEGACY_MARKER) == 0;
        size_t prefix = strncmp(key, LEGACY_PREFIX, strlen(LEGACY_PREFIX)) == 0 ? strlen(LEGACY_PREFIX) : 0;
        enum json_class found = is_marker ? class_named(text_of(key + prefix)) : JSON_CLASS_UNKNOWN;

        if (found != JSON_CLASS_UNKNOWN)
            return found;
    }
    return JSON_CLASS_NONE;
}

enum json_class json_class_of(struct json_reader *reader, json_t *value)
{
    enum json_class legacy = json_is_object(value) ? legacy_class_of(value) : JSON_CLASS_NONE;
    json_t *member = json_object_get(value, "polygraphy_class"); /* NULL if `value` is not an object */
    struct text name;

    if (legacy != JSON_CLASS_NONE || !member)
        return legacy;
    return json_reader_text(reader, member, &name, NULL) == 0 ? class_named(name) : JSON_CLASS_UNKNOWN;
}

/* Recursion is bounded by jansson's limit on nesting. */
static int check_value(struct json_reader *reader, json_t *value, struct error *err)
{
    struct text name = TEXT("(not a string)");
    const char *key;
    json_t *member;
    size_t index;
    int rc = 0;

    if (json_class_of(reader, value) == JSON_CLASS_UNKNOWN) {
        json_reader_text(reader, json_object_get(value, "polygraphy_class"), &name, NULL);
        return error_set(err, ERR_UNSUPPORTED, "Could not decode serialized type: " TEXT_FORMAT " (in '%s')",
                         TEXT_ARGS(name), reader->name);
    }
    json_object_foreach (value, key, member) {
        rc = check_value(reader, member, err);
        if (rc < 0)
            return rc;
    }
    json_array_foreach (value, index, member) {
        rc = check_value(reader, member, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int json_class_check_all(struct json_reader *reader, struct error *err)
{
    return check_value(reader, reader->root, err);
}

static const char *name_class(enum json_class value)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (classes[i].value == value)
            return classes[i].name;
    return "object";
}

int json_class_expect(struct json_reader *reader, enum json_class wanted, struct error *err)
{
    if (json_class_of(reader, reader->root) == wanted)
        return 0;
    return error_set(err, ERR_INVALID, "Provided JSON cannot be decoded into a %s. Note: '%s' holds %s",
                     name_class(wanted), reader->name, json_class_describe(reader, reader->root));
}

const char *json_class_describe(struct json_reader *reader, json_t *value)
{
    enum json_class found = json_class_of(reader, value);

    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (classes[i].value == found)
            return classes[i].description;
    if (json_is_object(value))
        return "an object without a class";
    if (json_is_array(value))
        return "a list";
    return value ? "a plain value" : "nothing";
}
