/* debug/accuracy/step_result.c: what the file of --json of an experiment says, see study.h. */
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/study.h"

#define MOST_COUNTED 0x1p53 /* beyond that a double has no odd numbers */

json_t *result_find(const json_t *object, const char *path)
{
    const json_t *ret = object;

    while (ret != NULL && *path != '\0') {
        size_t size = strcspn(path, "/");

        ret = json_object_getn(ret, path, size);
        path += size + (path[size] == '/');
    }
    return (json_t *)ret;
}

double result_number(struct study_step *step, const json_t *object, const char *path, double otherwise)
{
    double ret;

    return json_reader_number(&step->result, result_find(object, path), &ret) ? ret : otherwise;
}

int64_t result_count(struct study_step *step, const json_t *object, const char *path)
{
    double ret = result_number(step, object, path, 0);

    return ret >= 0 && ret <= MOST_COUNTED ? (int64_t)ret : 0;
}

const char *result_text(struct study_step *step, const json_t *object, const char *path)
{
    struct text text;
    json_t *value = result_find(object, path);

    if (!json_is_string(value) || json_reader_text(&step->result, value, &text, NULL) < 0)
        return "";
    return text.data;
}

struct words result_words(struct study_step *step, const json_t *array, const char *path)
{
    struct word_list list = {0};
    const json_t *item;
    size_t i;

    json_array_foreach (array, i, item)
        *VECTOR_APPEND(&list) = arena_strdup(&step->study->arena, result_text(step, item, path));
    return study_keep(step->study, &list);
}

bool step_says(const struct study_step *step, const char *path)
{
    return json_is_true(result_find(step->result.root, path));
}

int64_t step_count(struct study_step *step, const char *path)
{
    return result_count(step, step->result.root, path);
}

const char *step_text(struct study_step *step, const char *path)
{
    return result_text(step, step->result.root, path);
}
