/* cli/parse/value.h: the syntaxes of option values.
 *
 * Each converter converts the words of one option into its typed value; see `option_convert`. The message about a
 * malformed value shows the correct form. In a list, a later word with the same name replaces an earlier one.
 */
#ifndef CLI_PARSE_VALUE_H
#define CLI_PARSE_VALUE_H

#include "base/text/named_values.h"
#include "base/text/text.h"
#include "cli/parse/option.h"
#include "comparator/data/settings.h"
#include "onnx/external/save.h"
#include "onnx/model/mark_outputs.h"
#include "tensor/compare/ranking.h"

/* ---- Shapes: `<name>:[<dim>,...]` ---- */

struct input_shape {
    const char *name;           /* may be a pattern, see text_matches_pattern() */
    struct shape shape;         /* -1 for a dynamic dimension */
    const char *const *symbols; /* shape.rank names of dynamic dimensions (`x:[1,N]`), NULL for others */
};

struct input_shapes {
    const struct input_shape *items;
    size_t count;
};

/* ---- `[<name>:]top-<K>[,axis=<A>]` ---- */

struct top_ks {
    const struct top_k_rule *items;
    size_t count;
};

/* ---- Converters, with the type of the field that each one fills ---- */

option_convert convert_named_numbers;    /* struct named_numbers */
option_convert convert_named_quantiles;  /* struct named_numbers, 0 .. 1 */
option_convert convert_named_counts;     /* struct named_integers, >= 0 */
option_convert convert_named_words;      /* struct named_words, not empty */
option_convert convert_named_statistics; /* the same, names of statistics */
option_convert convert_shapes;           /* struct input_shapes */
option_convert convert_ranges;           /* `[<name>:][min,max]`: struct data_loader_ranges */
option_convert convert_size;             /* int64_t or uint64_t, bytes */
option_convert convert_outputs;          /* a list, or `mark all` or '*': struct output_names */
option_convert convert_top_k;            /* struct top_ks */
option_convert convert_external_data;    /* struct external_settings: whether, and the file; only the first word is
                                          * used */

/* A command line in a single word, split at blanks as in a shell: 'quotes', "quotes" and backslashes are honoured,
 * nothing is expanded. Fills struct words. */
option_convert convert_launcher;

/* ---- Building blocks ---- */

/* Splits at the last ':'. Without ':', `ret_name` is empty. */
void split_name(const char *word, struct text *ret_name, struct text *ret_value);

/* A single word, cast: a list, an integer, a float, or text without the quotes around it. */
enum cast_kind { CAST_INTEGER, CAST_FLOAT, CAST_TEXT, CAST_LIST };

struct cast_value {
    enum cast_kind kind;
    int64_t integer;
    double number;                  /* also set for integers */
    struct text text;               /* also set for numbers: the word without blanks and quotes */
    const struct cast_value *items; /* of a list; "[]" contains one empty text. Nested lists have none: not supported */
    size_t count;
};

void cast_word(struct parse *parse, struct text word, struct cast_value *ret);

/* Words of the form NAME:SHAPE or NAME:SHAPE:TYPE, with those joined that a shell has split at blanks ("x: [1, 3]").
 * The result belongs to the parse. */
struct words join_shape_words(struct parse *parse, struct words words);

/* Fills shape and symbols of `ret` from a list. Empty elements are ignored: [] is the shape of a scalar. */
int cast_shape(struct parse *parse, const char *spelling, const char *word, const struct cast_value *list,
               struct input_shape *ret, struct error *err);

#endif
