/* comparator/compare/detector.c: see detector.h. */
#include "comparator/compare/detector.h"

#include "base/memory.h"
#include "base/text/names.h"

/* ---- What the detector has ---- */

const struct detector_output *detector_find_pair(const struct detector *detector, size_t pair)
{
    ARRAY_EACH (const struct detector_output, output, detector->outputs, detector->count)
        if (output->pair == pair)
            return output;
    return NULL;
}

bool detector_has(const struct detector *detector, enum detection_column column)
{
    ARRAY_EACH (const struct detector_output, output, detector->outputs, detector->count)
        if (detection_columns_have(&output->columns, column))
            return true;
    return false;
}

static bool has_class_scores(const struct detector *detector)
{
    return detector_has(detector, DETECTION_CLASS_SCORES) || detector_has(detector, DETECTION_SCORES_BY_CLASS);
}

bool detector_has_scores(const struct detector *detector)
{
    return detector_has(detector, DETECTION_SCORE) || has_class_scores(detector);
}

bool detector_has_labels(const struct detector *detector)
{
    return detector_has(detector, DETECTION_LABEL) || detector_has(detector, DETECTION_SELECTED) ||
           has_class_scores(detector);
}

/* Whether an output has what the column contains: the scores of the classes contain scores and labels. */
static bool has_meaning(const struct detector *detector, enum detection_column column)
{
    switch (column) {
    case DETECTION_UNUSED:
        return false;
    case DETECTION_SCORE:
        return detector_has_scores(detector);
    case DETECTION_LABEL:
        return detector_has_labels(detector);
    case DETECTION_CLASS_SCORES:
    case DETECTION_SCORES_BY_CLASS:
        return detector_has_scores(detector) || detector_has(detector, DETECTION_LABEL);
    case DETECTION_SELECTED:
        return detector_has_labels(detector) && !has_class_scores(detector);
    default:
        return detector_has(detector, column);
    }
}

static const struct detector_output *find_boxes(const struct detector *detector)
{
    ARRAY_EACH (const struct detector_output, output, detector->outputs, detector->count)
        if (detection_columns_have_box(&output->columns))
            return output;
    return NULL;
}

/* ---- The search ---- */

struct detector_search {
    struct log *log;
    const struct pairing *pairing;
    struct detector *detector;
    bool *excluded;                /* pairs by "_" */
    struct string_builder *reason; /* why nothing was found; empty: found */
};

static const struct output_pair *pair_at(const struct detector_search *search, size_t pair)
{
    return &search->pairing->items[pair];
}

static bool is_taken(const struct detector_search *search, size_t pair)
{
    return search->excluded[pair] || detector_find_pair(search->detector, pair) != NULL;
}

/* Whether both tensors have the shape of the columns. */
static bool pair_has_layout(const struct output_pair *pair, const struct detection_columns *columns,
                            struct detection_layout *ret_first, struct detection_layout *ret_second)
{
    return detection_layout_find(&pair->first->tensor, columns, ret_first) &&
           detection_layout_find(&pair->second->tensor, columns, ret_second);
}

static int add_output(struct detector_search *search, size_t pair, const struct detection_columns *columns,
                      bool is_derived, struct error *err)
{
    struct detector *detector = search->detector;

    for (size_t i = 0; i < columns->count; i++) {
        if (has_meaning(detector, columns->items[i]))
            return error_set(err, ERR_INVALID,
                             "--detection-columns: output '%s' repeats a column of another output; exclude it with "
                             "'%s:_'",
                             pair_at(search, pair)->first->name, pair_at(search, pair)->first->name);
    }
    if (detector->count == ARRAY_LEN(detector->outputs))
        return error_set(err, ERR_INVALID, "--detection-columns: more than %zu outputs have columns",
                         ARRAY_LEN(detector->outputs));
    detector->outputs[detector->count++] = (struct detector_output){pair, *columns, is_derived};
    return 0;
}

/* ---- Rules ---- */

static int apply_rule(struct detector_search *search, size_t pair, const struct named_word *rule, struct error *err)
{
    struct detection_layout first, second;
    struct detection_columns columns;
    SCOPED_STRING(shape);
    int rc = detection_columns_parse(rule->value, &columns, err);

    if (rc < 0)
        return error_context(err, "--detection-columns");
    if (columns.count == 1 && columns.items[0] == DETECTION_UNUSED) {
        search->excluded[pair] = true;
        return 0;
    }
    if (pair_has_layout(pair_at(search, pair), &columns, &first, &second))
        return add_output(search, pair, &columns, false, err);
    if (rule->name[0] == '\0')
        return 0;
    shape_to_text(&pair_at(search, pair)->first->tensor.shape, &shape);
    return error_set(err, ERR_INVALID, "--detection-columns: output '%s' of shape %s does not have the columns %s",
                     pair_at(search, pair)->first->name, shape.data, rule->value);
}

static int apply_rules(struct detector_search *search, const struct named_words *rules, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < search->pairing->count; i++) {
        const struct named_word *rule =
            name_rule_find(rules->items, rules->count, sizeof(*rules->items), pair_at(search, i)->first->name);

        if (rule != NULL)
            rc = apply_rule(search, i, rule, err);
    }
    return rc;
}

/* ---- Derivation ---- */

static bool name_has_any(const char *name, const char *const *parts)
{
    for (; *parts != NULL; parts++)
        if (text_contains_ignoring_case(text_of(name), text_of(*parts)))
            return true;
    return false;
}

static const char *const box_names[] = {"box", "det", "loc", NULL};
static const char *const score_names[] = {"score", "conf", "prob", "logit", NULL};
static const char *const label_names[] = {"label", "class", "cls", "categor", NULL};
static const char *const selection_names[] = {"select", "ind", "nms", NULL};
static const char *const count_names[] = {"num", "count", "valid", NULL};

static bool are_floats(const struct output_pair *pair)
{
    return data_type_is_float(pair->first->tensor.type) && data_type_is_float(pair->second->tensor.type);
}

static bool are_integers(const struct output_pair *pair)
{
    return data_type_is_integer(pair->first->tensor.type) && data_type_is_integer(pair->second->tensor.type);
}

static bool is_named_label(const char *name)
{
    return name_has_any(name, label_names) && !name_has_any(name, score_names);
}

static size_t count_rows(const struct detection_layout *layout)
{
    return layout->images * layout->rows;
}

/* Whether a pair has one row for each box in both results, or with DETECTION_COUNT one for each image; any
 * number may be selected. */
static bool rows_are_of_boxes(const struct detector_search *search, size_t pair,
                              const struct detection_columns *columns)
{
    const struct detector_output *boxes = find_boxes(search->detector);
    struct detection_layout first, second, first_boxes, second_boxes;
    enum detection_column whole = detection_columns_whole(columns);

    if (!pair_has_layout(pair_at(search, pair), columns, &first, &second) ||
        !pair_has_layout(pair_at(search, boxes->pair), &boxes->columns, &first_boxes, &second_boxes))
        return false;
    if (whole == DETECTION_SELECTED)
        return true;
    if (whole == DETECTION_COUNT)
        return first.images == first_boxes.images && second.images == second_boxes.images;
    return count_rows(&first) == count_rows(&first_boxes) && count_rows(&second) == count_rows(&second_boxes) &&
           (whole == DETECTION_UNUSED || first.width == second.width) &&
           (whole != DETECTION_CLASS_SCORES || first.width > 1);
}

/* Whether a pair that has no columns yet may be this one of the detector whose boxes are known. */
static bool may_be(const struct detector_search *search, size_t index, enum detection_column column)
{
    const struct output_pair *pair = pair_at(search, index);
    const char *name = pair->first->name;
    bool is_right_type;

    switch (column) {
    case DETECTION_COUNT:
        is_right_type = name_has_any(name, count_names);
        break;
    case DETECTION_SELECTED:
        is_right_type = are_integers(pair) && !name_has_any(name, count_names);
        break;
    case DETECTION_LABEL:
        is_right_type = are_integers(pair) || is_named_label(name);
        break;
    default:
        is_right_type = are_floats(pair) && !is_named_label(name);
    }
    return is_right_type && !is_taken(search, index) &&
           rows_are_of_boxes(search, index, &(struct detection_columns){.items = {column}, .count = 1});
}

/* Whether a pair may be the table with `width` columns. */
static bool may_be_table(const struct detector_search *search, size_t index, size_t width)
{
    struct detection_layout first, second;

    return are_floats(pair_at(search, index)) && !is_taken(search, index) &&
           pair_at(search, index)->first->tensor.shape.rank >= 2 &&
           pair_has_layout(pair_at(search, index), &(struct detection_columns){.count = width}, &first, &second);
}

/* Outputs that may have the same role. */
struct role_candidates {
    size_t count, named; /* all; with a name that says so */
    size_t pair;         /* the one of several with a name, or the first */
    struct string_builder names;
};

static void add_candidate(struct role_candidates *candidates, const struct detector_search *search, size_t pair,
                          const char *const *wanted)
{
    bool is_named = name_has_any(pair_at(search, pair)->first->name, wanted);

    if (candidates->count == 0 || (is_named && candidates->named == 0))
        candidates->pair = pair;
    candidates->count++;
    candidates->named += is_named;
    name_list_add(&candidates->names, pair_at(search, pair)->first->name);
}

/* Whether there is one candidate, or one with a fitting name. Several are the reason why nothing is found. */
static bool is_unique(const struct role_candidates *candidates, const char *role, struct detector_search *search)
{
    if (candidates->count > 1 && candidates->named != 1 && search->reason->size == 0)
        string_add_format(search->reason, "several outputs may be the %s: %s", role, candidates->names.data);
    return candidates->count == 1 || candidates->named == 1;
}

static int derive_boxes(struct detector_search *search, size_t least_width, size_t most_width, struct error *err)
{
    struct role_candidates candidates = {0};
    struct detection_columns columns;
    const struct tensor *values;
    size_t width = 0;
    int rc = 0;

    string_init(&candidates.names);
    for (size_t i = 0; i < search->pairing->count; i++)
        for (size_t k = least_width; k <= most_width; k++)
            if (may_be_table(search, i, k))
                add_candidate(&candidates, search, i, box_names);
    if (!is_unique(&candidates, "boxes", search))
        goto done;
    values = &pair_at(search, candidates.pair)->second->tensor;
    if (tensor_elements(values) == 0)
        values = &pair_at(search, candidates.pair)->first->tensor;
    width = (size_t)values->shape.dims[values->shape.rank - 1];
    if (detection_columns_derive(values, width, &columns))
        rc = add_output(search, candidates.pair, &columns, true, err);
    else
        string_add_format(search->reason, "the values of '%s' fit no known order of %zu columns",
                          pair_at(search, candidates.pair)->first->name, width);
done:
    string_release(&candidates.names);
    return rc;
}

/* Finds the output with this single column, if there is one. */
static int derive_column(struct detector_search *search, enum detection_column column, const char *role,
                         const char *const *wanted, struct error *err)
{
    struct role_candidates candidates = {0};
    int rc = 0;

    string_init(&candidates.names);
    for (size_t i = 0; i < search->pairing->count; i++)
        if (may_be(search, i, column))
            add_candidate(&candidates, search, i, wanted);
    if (is_unique(&candidates, role, search))
        rc = add_output(search, candidates.pair, &(struct detection_columns){.items = {column}, .count = 1}, true, err);
    string_release(&candidates.names);
    return rc;
}

/* What NonMaxSuppression reads, next to the boxes, and writes. Its output has three columns; without scores by class
 * these may be anything. */
static int derive_selection(struct detector_search *search, struct error *err)
{
    struct detector *detector = search->detector;
    size_t count = detector->count;
    int rc = derive_column(search, DETECTION_SELECTED, "selected rows", selection_names, err);

    if (rc == 0 && detector->count > count && !detector_has_scores(detector))
        rc = derive_column(search, DETECTION_SCORES_BY_CLASS, "scores of the classes", score_names, err);
    if (detector->count == count + 1)
        detector->count = count;
    return rc;
}

/* A column that an output of its own has, unless the detector has what it means already. */
static const struct derived_column {
    enum detection_column column;
    const char *role;
    const char *const *names;
} derived_columns[] = {
    {DETECTION_LABEL, "labels", label_names},
    {DETECTION_SCORE, "scores", score_names},
    {DETECTION_CLASS_SCORES, "scores of the classes", score_names},
    {DETECTION_SCORES_BY_CLASS, "scores of the classes", score_names},
};

static int derive_columns(struct detector_search *search, struct error *err)
{
    const struct detector *detector = search->detector;
    int rc = 0;

    ARRAY_EACH (const struct derived_column, derived, derived_columns, ARRAY_LEN(derived_columns)) {
        if (rc == 0 && !has_meaning(detector, derived->column))
            rc = derive_column(search, derived->column, derived->role, derived->names, err);
    }
    return rc;
}

static int derive_outputs(struct detector_search *search, struct error *err)
{
    struct detector *detector = search->detector;
    int rc = 0;

    if (find_boxes(detector) == NULL)
        rc = derive_boxes(search, 4, 4, err);
    if (rc == 0 && find_boxes(detector) == NULL && search->reason->size == 0)
        rc = derive_boxes(search, 5, 7, err);
    if (rc < 0 || find_boxes(detector) == NULL)
        goto done;
    if (!detector_has(detector, DETECTION_COUNT))
        rc = derive_column(search, DETECTION_COUNT, "numbers of boxes", count_names, err);
    if (rc < 0)
        goto done;
    if (!detector_has_labels(detector))
        rc = derive_selection(search, err);
    if (rc == 0)
        rc = derive_columns(search, err);
done:
    return rc;
}

/* ---- The result ---- */

/* Four columns of an output that nothing belongs to may be anything. */
static void check_completeness(struct detector_search *search)
{
    const struct detector_output *boxes = find_boxes(search->detector);

    if (search->reason->size > 0)
        return;
    if (boxes == NULL)
        string_add(search->reason, "no output has boxes");
    else if (boxes->is_derived && !detector_has_scores(search->detector) && !detector_has_labels(search->detector))
        string_add_format(search->reason, "no output has scores or labels of the rows of '%s'",
                          pair_at(search, boxes->pair)->first->name);
}

static void log_outputs(const struct detector_search *search)
{
    bool is_derived = false;
    SCOPED_STRING(line);

    ARRAY_EACH (const struct detector_output, output, search->detector->outputs, search->detector->count) {
        string_add_format(&line, " %s:", pair_at(search, output->pair)->first->name);
        detection_columns_to_text(&output->columns, &line);
        is_derived |= output->is_derived;
    }
    log_once(search->log, LOG_INFO, "Columns of the detections: --detection-columns%s%s", line.data,
             is_derived ? " (derived from shapes, types, names and values)" : "");
}

int detector_find(struct log *log, const struct pairing *pairing, const struct named_words *rules, struct detector *ret,
                  struct error *err)
{
    bool *excluded SCOPED_FREE = memory_alloc_zero(pairing->count + 1, sizeof(*excluded));
    SCOPED_STRING(reason);
    struct detector_search search = {log, pairing, ret, excluded, &reason};
    int rc;

    *ret = (struct detector){0};
    rc = apply_rules(&search, rules, err);
    if (rc == 0)
        rc = derive_outputs(&search, err);
    if (rc < 0)
        return rc;
    check_completeness(&search);
    if (reason.size > 0) {
        log_once(log, LOG_WARNING,
                 "The outputs are not recognized as those of a detector: %s. Specify their columns "
                 "with --detection-columns, such as 'boxes:x1,y1,x2,y2' 'scores:score' 'labels:label'",
                 reason.data);
        ret->count = 0;
        return 0;
    }
    ret->boxes = (size_t)(find_boxes(ret) - ret->outputs);
    log_outputs(&search);
    return 0;
}
