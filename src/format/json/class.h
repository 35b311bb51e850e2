/* format/json/class.h: the Polygraphy class of a JSON object.
 *
 * A typed object has the member "polygraphy_class": "<name>". In very old files it has a member named
 * "__polygraphy_encoded_<name>", or just "<name>", with the value "polygraphy_serialized_json_type" instead.
 */
#ifndef FORMAT_JSON_CLASS_H
#define FORMAT_JSON_CLASS_H

#include "format/json/reader.h"

enum json_class {
    JSON_CLASS_NONE, /* not a typed object */
    JSON_CLASS_ARRAY,
    JSON_CLASS_TORCH_TENSOR,
    JSON_CLASS_LAZY_ARRAY,
    JSON_CLASS_FORMATTED_ARRAY,
    JSON_CLASS_ITERATION_RESULT,
    JSON_CLASS_RUN_RESULTS,
    JSON_CLASS_TENSOR_INFO,
    JSON_CLASS_ALGORITHM,
    JSON_CLASS_TACTIC_REPLAY,
    JSON_CLASS_ITERATION_CONTEXT,
    JSON_CLASS_ACCURACY_RESULTS,
    JSON_CLASS_ACCURACY_PART, /* see format/polygraphy/accuracy_results.h */
    JSON_CLASS_UNKNOWN,       /* typed, with an unknown name */
};

enum json_class json_class_of(struct json_reader *reader, json_t *value);

/* Refuses a file with an object of an unknown class anywhere, as Polygraphy does. */
int json_class_check_all(struct json_reader *reader, struct error *err);

/* ERR_INVALID unless the file's root is an object of class `wanted`. */
int json_class_expect(struct json_reader *reader, enum json_class wanted, struct error *err);

/* A description of `value` for messages: "a RunResults", "a list", "nothing". */
const char *json_class_describe(struct json_reader *reader, json_t *value);

#endif
