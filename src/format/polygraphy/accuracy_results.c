/* format/polygraphy/accuracy_results.c: see accuracy_results.h. */
#include "format/polygraphy/accuracy_results.h"

#include <stdlib.h>

#include "base/memory.h"
#include "format/json/class.h"
#include "format/json/split.h"
#include "format/json/writer.h"

static const struct {
    const char *result_class, *threshold_class, *values[ACCURACY_VALUES + 1];
} kinds[ACCURACY_KINDS] = {
    [ACCURACY_SIMPLE] = {"OutputCompareResult",
                         "SimpleThreshold",
                         {"max_absdiff", "max_reldiff", "mean_absdiff", "mean_reldiff", "median_absdiff",
                          "median_reldiff", "quantile_absdiff", "quantile_reldiff"}},
    [ACCURACY_L2] = {"L2Result", "L2Threshold", {"l2_norm"}},
    [ACCURACY_COSINE_SIMILARITY] = {"CosineSimilarityResult", "CosineSimilarityThreshold", {"cosine_similarity"}},
    [ACCURACY_PSNR] = {"PsnrResult", "PsnrThreshold", {"psnr"}},
    [ACCURACY_SNR] = {"SnrResult", "SnrThreshold", {"snr"}},
    [ACCURACY_LPIPS] = {"PerceptualMetricsResult", "LpipsThreshold", {"lpips"}},
    [ACCURACY_NMSE] = {"NmseResult", "NmseThreshold", {"nmse"}},
};

const char *accuracy_value_name(enum accuracy_kind kind, size_t value)
{
    return kinds[kind].values[value];
}

void accuracy_list_values(enum accuracy_kind kind, struct string_builder *ret)
{
    string_add_char(ret, '[');
    for (size_t i = 0; kinds[kind].values[i] != NULL; i++)
        string_add_format(ret, "%s'%s'", i > 0 ? ", " : "", kinds[kind].values[i]);
    string_add_char(ret, ']');
}

enum accuracy_kind accuracy_result_kind(const struct accuracy_result *result)
{
    for (size_t p = 0; p < result->count; p++)
        for (size_t i = 0; i < result->items[p].count; i++)
            for (size_t k = 0; k < result->items[p].items[i].count; k++)
                if (result->items[p].items[i].items[k].kind != ACCURACY_PLAIN)
                    return result->items[p].items[i].items[k].kind;
    return ACCURACY_PLAIN;
}

static void release_pair(struct accuracy_pair *pair)
{
    for (size_t i = 0; i < pair->count; i++) {
        for (size_t k = 0; k < pair->items[i].count; k++)
            free(pair->items[i].items[k].name);
        free(pair->items[i].items);
    }
    free(pair->items);
    free(pair->first);
    free(pair->second);
}

void accuracy_results_release(struct accuracy_results *results)
{
    for (size_t r = 0; r < results->count; r++) {
        for (size_t p = 0; p < results->items[r].count; p++)
            release_pair(&results->items[r].items[p]);
        free(results->items[r].items);
    }
    free(results->items);
    *results = (struct accuracy_results){0};
}

/* ---- Reading ---- */

bool accuracy_results_recognize(const char *path)
{
    struct json_pieces members SCOPED_ITEMS = {0};
    struct file_map map SCOPED(file_map_release) = {0};
    uint8_t start;

    if (file_read_start(path, &start, 1) == 0 || start != '{' || file_map_open(path, &map, NULL) < 0)
        return false;
    return json_split_object((struct text){(const char *)map.data, map.size}, &map, &members) &&
           json_members_are_of_class(&members, TEXT("\"AccuracyResults\""));
}

static int read_number(struct json_reader *reader, json_t *object, const char *name, double *ret, struct error *err)
{
    return json_reader_number(reader, json_object_get(object, name), ret)
               ? 0
               : error_set(err, ERR_CORRUPT, "'%s' is missing or not a number", name);
}

static int read_simple_threshold(struct json_reader *reader, json_t *threshold, struct accuracy_output *ret,
                                 struct error *err)
{
    struct text statistic;
    int rc = json_reader_text(reader, json_object_get(threshold, "check_error_stat"), &statistic, err);

    if (rc < 0)
        return error_context(err, "check_error_stat");
    if (!compare_statistic_parse(statistic, &ret->statistic))
        return error_set(err, ERR_CORRUPT, "unknown check_error_stat '" TEXT_FORMAT "'", TEXT_ARGS(statistic));
    rc = read_number(reader, threshold, "atol", &ret->atol, err);
    return rc < 0 ? rc : read_number(reader, threshold, "rtol", &ret->rtol, err);
}

static int read_kind(struct json_reader *reader, json_t *object, enum accuracy_kind *ret, struct error *err)
{
    struct text name = TEXT("");

    json_reader_text(reader, json_object_get(object, "polygraphy_class"), &name, NULL);
    for (unsigned kind = ACCURACY_SIMPLE; kind < ACCURACY_KINDS; kind++)
        if (text_equal_string(name, kinds[kind].result_class)) {
            *ret = (enum accuracy_kind)kind;
            return 0;
        }
    return error_set(err, ERR_CORRUPT, "expected a verdict or metrics, found %s", json_class_describe(reader, object));
}

/* A verdict, or an object with metrics. */
static int read_result(struct json_reader *reader, json_t *value, struct accuracy_output *ret, struct error *err)
{
    json_t *passed = json_object_get(value, "passed"), *threshold = json_object_get(value, "thresholds");
    int rc;

    ret->has_verdict = json_is_boolean(value);
    ret->verdict = json_is_true(value) || json_is_true(passed);
    if (ret->has_verdict)
        return 0;
    rc = read_kind(reader, value, &ret->kind, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; kinds[ret->kind].values[i] != NULL; i++) {
        json_t *number = json_object_get(value, kinds[ret->kind].values[i]);

        ret->known[i] = number != NULL && !json_is_null(number);
        if (ret->known[i] && !json_reader_number(reader, number, &ret->values[i]))
            return error_set(err, ERR_CORRUPT, "'%s' is not a number", kinds[ret->kind].values[i]);
    }
    if (ret->kind != ACCURACY_SIMPLE)
        return read_number(reader, threshold, "threshold", &ret->threshold, err);
    rc = read_simple_threshold(reader, threshold, ret, err);
    ret->has_verdict = ret->statistic == COMPARE_ELEMWISE;
    if (rc == 0 && ret->has_verdict && !json_is_boolean(passed))
        return error_set(err, ERR_CORRUPT, "'passed' of a comparison by elements is missing or not a boolean");
    return rc;
}

static int read_iteration(struct json_reader *reader, json_t *object, struct accuracy_iteration *ret, struct error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return error_set(err, ERR_CORRUPT, "expected a map of results by output");
    json_object_foreach (object, name, value) {
        struct accuracy_output *output = VECTOR_APPEND(ret);

        *output = (struct accuracy_output){.name = memory_strdup(name)};
        if (read_result(reader, value, output, err) < 0)
            return error_context(err, "output '%s'", name);
    }
    return 0;
}

/* [[runner, runner], [iteration, ...]] */
static int read_pair(struct json_reader *reader, json_t *pair, struct accuracy_result *ret, struct error *err)
{
    json_t *names = json_array_get(pair, 0), *iterations = json_array_get(pair, 1), *object;
    struct accuracy_pair *added;
    struct text first, second;
    size_t index;

    if (json_array_size(names) != 2 || !json_is_array(iterations))
        return error_set(err, ERR_CORRUPT, "expected a pair of runners and a list of iterations");
    if (json_reader_text(reader, json_array_get(names, 0), &first, err) < 0 ||
        json_reader_text(reader, json_array_get(names, 1), &second, err) < 0)
        return error_context(err, "the pair of runners");
    added = VECTOR_APPEND(ret);
    *added = (struct accuracy_pair){.first = memory_copy(first.data, first.size),
                                    .second = memory_copy(second.data, second.size)};
    json_array_foreach (iterations, index, object) {
        struct accuracy_iteration *iteration = VECTOR_APPEND(added);

        *iteration = (struct accuracy_iteration){0};
        if (read_iteration(reader, object, iteration, err) < 0)
            return error_context(err, "iteration %zu", index);
    }
    return 0;
}

static int read_function(struct json_reader *reader, json_t *object, struct accuracy_result *ret, struct error *err)
{
    json_t *list = json_object_get(object, "lst"), *pair;
    struct text aggregation = TEXT("");
    size_t index;

    json_reader_text(reader, json_object_get(object, "aggregation"), &aggregation, NULL);
    ret->average = text_equal_string(aggregation, "average");
    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "the list 'lst' of pairs is missing");
    json_array_foreach (list, index, pair)
        if (read_pair(reader, pair, ret, err) < 0)
            return error_context(err, "pair %zu", index);
    return 0;
}

static int read_results(struct json_reader *reader, struct accuracy_results *ret, struct error *err)
{
    json_t *list, *object;
    size_t index;
    int rc = json_class_expect(reader, JSON_CLASS_ACCURACY_RESULTS, err);

    if (rc == 0)
        rc = json_class_check_all(reader, err);
    if (rc < 0)
        return rc;
    list = json_object_get(reader->root, "lst");
    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "'%s': the list 'lst' of results is missing", reader->name);
    json_array_foreach (list, index, object) {
        struct accuracy_result *result = VECTOR_APPEND(ret);

        *result = (struct accuracy_result){0};
        if (read_function(reader, object, result, err) < 0)
            return error_context(err, "'%s': result %zu", reader->name, index);
    }
    return 0;
}

int accuracy_results_load(struct accuracy_results *ret, const char *path, struct error *err)
{
    struct accuracy_results loaded = {0};
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc = json_reader_open(&reader, path, err);

    if (rc < 0)
        return rc;
    rc = read_results(&reader, &loaded, err);
    if (rc == 0)
        *ret = loaded;
    else
        accuracy_results_release(&loaded);
    return rc;
}

/* ---- Writing ---- */

static void write_threshold(const struct accuracy_output *output, struct json_writer *json)
{
    json_writer_begin_object_member(json, "thresholds");
    if (output->kind == ACCURACY_SIMPLE) {
        json_writer_add_string(json, "check_error_stat", compare_statistic_name(output->statistic));
        json_writer_add_number(json, "atol", output->atol);
        json_writer_add_number(json, "rtol", output->rtol);
    } else {
        json_writer_add_number(json, "threshold", output->threshold);
    }
    json_writer_add_string(json, "polygraphy_class", kinds[output->kind].threshold_class);
    json_writer_end_object(json);
}

static void write_result(const struct accuracy_output *output, struct json_writer *json)
{
    json_writer_key(json, output->name);
    if (output->kind == ACCURACY_PLAIN) {
        json_writer_boolean(json, output->verdict);
        return;
    }
    json_writer_begin_object(json);
    for (size_t i = 0; kinds[output->kind].values[i] != NULL; i++)
        if (json_writer_key_or_null(json, kinds[output->kind].values[i], output->known[i]))
            json_writer_number(json, output->values[i]);
    write_threshold(output, json);
    if (output->kind == ACCURACY_SIMPLE && json_writer_key_or_null(json, "passed", output->has_verdict))
        json_writer_boolean(json, output->verdict);
    json_writer_add_string(json, "polygraphy_class", kinds[output->kind].result_class);
    json_writer_end_object(json);
}

static void write_pair(const struct accuracy_pair *pair, struct json_writer *json)
{
    json_writer_begin_array(json);
    json_writer_begin_array(json);
    json_writer_string(json, pair->first);
    json_writer_string(json, pair->second);
    json_writer_end_array(json);
    json_writer_begin_array(json);
    for (size_t i = 0; i < pair->count; i++) {
        json_writer_begin_object(json);
        for (size_t k = 0; k < pair->items[i].count; k++)
            write_result(&pair->items[i].items[k], json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_end_array(json);
}

int accuracy_results_save(const struct accuracy_results *results, const char *path, struct error *err)
{
    struct json_writer json;
    int rc = json_writer_open(&json, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&json);
    json_writer_begin_array_member(&json, "lst");
    for (size_t r = 0; r < results->count; r++) {
        json_writer_begin_object(&json);
        json_writer_begin_array_member(&json, "lst");
        for (size_t p = 0; p < results->items[r].count; p++)
            write_pair(&results->items[r].items[p], &json);
        json_writer_end_array(&json);
        json_writer_add_string(&json, "aggregation", results->items[r].average ? "average" : "per_sample");
        json_writer_add_string(&json, "polygraphy_class", "AccuracyResult");
        json_writer_end_object(&json);
    }
    json_writer_end_array(&json);
    json_writer_add_string(&json, "polygraphy_class", "AccuracyResults");
    json_writer_end_object(&json);
    return json_writer_finish(&json, err);
}
