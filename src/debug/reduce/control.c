/* debug/reduce/control.c: see control.h. */
#include "debug/reduce/control.h"

#include "debug/belief/belief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "debug/reduce/part.h"
#include "onnx/edit/node.h"
#include "tensor/compare/validate.h"

#define WANTED_PARTS 2

/* At most this many nodes are tried, because some do not form a valid model; and at most this many are checked, because
 * the check may be inconclusive for some. */
#define MOST_PARTS 16
#define MOST_CONTROLS 4

/* Operator set of a model without one in ONNX's domain. */
#define ANY_OPSET 13

/* Larger constants, in bytes, are not written. */
#define MOST_CONSTANTS ((size_t)256 << 20)

struct control {
    struct candidate_maker *maker; /* the first: part_subject() */
    const struct subgraph *answer;
    struct debug_session *session;
    struct log *log;
    struct bitset rest;              /* nodes that may still be tried */
    struct text kinds[WANTED_PARTS]; /* operators of the checked subgraphs */
    size_t parts, failed;            /* checked subgraphs; failures among them */
    size_t number;                   /* number of controls so far */

    struct subgraph part; /* the subgraph that is checked now */
    char *constants;      /* the model that outputs constants, in memory */
    size_t constants_size;
};

static int check_control(struct control *control, const struct session_subject *subject, const char *what,
                         enum verdict *ret, struct error *err)
{
    char key[64];

    snprintf(key, sizeof(key), "_control_%zu", ++control->number);
    return session_check(control->session, subject, (struct check_request){ROLE_CONTROL, key, what}, ret, err);
}

/* ---- Single nodes ---- */

static bool answer_has_kind(const struct control *control, struct text kind)
{
    const struct subgraph *answer = control->answer;

    BITSET_EACH (i, &answer->nodes)
        if (text_equal(answer->model->nodes.items[i].op_type, kind))
            return true;
    return false;
}

static bool was_tried(const struct control *control, struct text kind)
{
    for (size_t i = 0; i < control->parts; i++)
        if (text_equal(control->kinds[i], kind))
            return true;
    return false;
}

static bool makes_floats(const struct subgraph *whole, const struct node *node)
{
    struct value_type type;

    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(whole->model, node->outputs, i);

        if (value == VALUE_NONE)
            continue;
        subgraph_type(whole, value, &type);
        if (type.not_a_tensor == NULL && !data_type_is_integer(type.element) && type.element != DATA_BOOL)
            return true;
    }
    return false;
}

/* Chooses a node for a control: preferably of another operator than the result, with float outputs, which most checks
 * compare, and far from the result. */
static size_t choose_node(const struct control *control)
{
    const struct model *model = control->answer->model;
    size_t from = bitset_next(&control->answer->nodes, 0), best = control->rest.size, best_rank = 0;

    BITSET_EACH (i, &control->rest) {
        const struct node *node = &model->nodes.items[i];
        size_t kinds = answer_has_kind(control, node->op_type) ? 0 : was_tried(control, node->op_type) ? 2 : 4;
        size_t distance = i > from ? i - from : from - i;
        size_t rank = (kinds + (makes_floats(control->answer, node) ? 1 : 0)) * (model->nodes.count + 1) + distance;

        if (best == control->rest.size || rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

static int identify_part(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct control *control = data;
    struct subgraph part;

    (void)search, (void)err;
    subgraph_init_copy(&part, &control->part);
    part_identify(control->maker, &part, NULL, ret);
    ret->num_nodes = -1;
    ret->expectation = EXPECT_REMEDY;
    return 0;
}

/* Creates the model of one node. `ret_made`: it can be checked and has no verdict yet. */
static int make_part(struct control *control, size_t node, bool *ret_made, struct error *err)
{
    uint32_t not_a_tensor = VALUE_NONE;
    enum verdict known;
    SCOPED_BITSET(nodes);
    int rc;

    *ret_made = false;
    bitset_init(&nodes, control->rest.size);
    bitset_add(&nodes, node);
    rc = candidate_of_nodes(control->maker, &nodes, &control->part, err);
    if (rc == 0) {
        rc = candidate_complete(control->maker, &control->part, &not_a_tensor, err);
        *ret_made = rc == 0 && not_a_tensor == VALUE_NONE && control->part.inputs.count > 0 &&
                    control->part.outputs.count > 0 &&
                    !session_has_seen(control->session, subgraph_identity(&control->part), &known);
        if (!*ret_made)
            subgraph_release(&control->part);
    }
    return rc == ERR_INTERRUPTED || rc == ERR_MEMORY ? rc : 0;
}

static int check_part(struct control *control, size_t node, enum verdict *ret, struct error *err)
{
    struct session_subject subject = part_subject(control, identify_part);
    const struct model *model = control->answer->model;
    struct text kind = model->nodes.items[node].op_type;
    SCOPED_STRING(what);
    bool made;
    int rc = make_part(control, node, &made, err);

    *ret = VERDICT_SKIP;
    if (rc < 0 || !made)
        return rc;
    subject.may_be_kept = false;
    string_add(&what, "'");
    model_add_node_label(model, (uint32_t)node, &what);
    string_add_format(&what, "' (" TEXT_FORMAT ") alone, which is not part of the result", TEXT_ARGS(kind));
    rc = check_control(control, &subject, what.data, ret, err);
    subgraph_release(&control->part);
    if (rc == 0 && *ret != VERDICT_SKIP)
        control->kinds[control->parts++] = kind;
    return rc;
}

static int check_parts(struct control *control, bool *ret_passed, struct error *err)
{
    for (size_t i = 0;
         !*ret_passed && i < MOST_PARTS && control->parts < WANTED_PARTS && control->number < MOST_CONTROLS; i++) {
        size_t node = choose_node(control);
        enum verdict verdict;
        int rc;

        if (node == control->rest.size)
            break;
        bitset_remove(&control->rest, node);
        rc = check_part(control, node, &verdict, err);
        if (rc < 0)
            return rc;
        *ret_passed = verdict == VERDICT_PASS;
        control->failed += verdict == VERDICT_FAIL ? 1 : 0;
    }
    return 0;
}

/* ---- A model that computes nothing ---- */

static bool is_finite(const struct tensor *tensor)
{
    struct validation validation;

    tensor_validate(tensor, &validation);
    return validation.nans + validation.infinities == 0;
}

static int make_zeros(enum data_type type, const struct shape *shape, struct tensor *ret, struct error *err)
{
    int rc = tensor_allocate(type, shape, ret, err);

    if (rc == 0)
        memset(tensor_writable(ret), 0, ret->size);
    return rc;
}

/* The value of the result's output in the original. Returns false if it is unknown or not suitable. */
static bool value_of_output(const struct control *control, uint32_t value, struct tensor *ret)
{
    const struct candidate_maker *maker = control->maker;
    struct value_list one = {.items = &value, .count = 1};
    struct value_type type;
    struct error why;

    if (!maker->known.values_missing && reference_values_record(maker->reference, &one, &why) == 0) {
        const struct tensor *known = reference_values_get(maker->reference, value);

        if (known->size > MOST_CONSTANTS)
            return false;
        if (is_finite(known)) {
            tensor_borrow(known->type, &known->shape, known->data, known->size, ret);
            return true;
        }
        /* A check that compares with the file of --iter-golden needs the exact values. */
        return maker->settings->iteration_golden == NULL && make_zeros(known->type, &known->shape, ret, &why) == 0;
    }
    subgraph_type(control->answer, value, &type);
    return type.not_a_tensor == NULL && type.element != DATA_UNDEFINED && type.element != DATA_STRING &&
           type.has_shape && shape_is_static(&type.shape) &&
           tensor_bytes(type.element, shape_elements(&type.shape)) <= MOST_CONSTANTS &&
           make_zeros(type.element, &type.shape, ret, &why) == 0;
}

/* Adds an Identity node that outputs a constant. */
static bool add_output(const struct control *control, uint32_t value, struct arena *arena, struct string_builder *nodes,
                       struct string_builder *others)
{
    const struct value *output = &control->answer->model->values.items[value];
    SCOPED_STRING(text);
    struct tensor tensor SCOPED(tensor_release) = {0};

    if (!value_of_output(control, value, &tensor))
        return false;
    string_add_format(&text, TEXT_FORMAT "_constant", TEXT_ARGS(output->name));

    struct text constant = {text.data, text.size};
    struct node_recipe recipe = {.op_type = TEXT("Identity"),
                                 .name = constant,
                                 .inputs = &constant,
                                 .input_count = 1,
                                 .outputs = &output->name,
                                 .output_count = 1};
    struct value_type type = {.element = tensor.type, .has_shape = true, .shape = tensor.shape};
    struct span node = node_build(arena, &recipe), info = value_info_make(arena, output->name, &type);
    SCOPED_STRING(proto);

    tensor_proto_write(&proto, constant, &tensor);
    string_add_bytes(nodes, node.data, node.size);
    wire_write_bytes(others, GRAPH_INITIALIZER, proto.data, proto.size);
    wire_write_bytes(others, GRAPH_OUTPUT, info.data, info.size);
    return true;
}

/* `graph` as a model of the original's version. */
static void wrap_graph(const struct model *model, const struct string_builder *graph, struct string_builder *ret)
{
    SCOPED_STRING(opset);
    int64_t version = model_opset(model);

    wire_write_text(&opset, OPSET_DOMAIN, TEXT(""));
    wire_write_integer(&opset, OPSET_VERSION, version > 0 ? version : ANY_OPSET);
    wire_write_integer(ret, MODEL_IR_VERSION, model->ir_version);
    wire_write_text(ret, MODEL_PRODUCER_NAME, TEXT("polygraphy"));
    wire_write_bytes(ret, MODEL_GRAPH, graph->data, graph->size);
    wire_write_bytes(ret, MODEL_OPSET_IMPORT, opset.data, opset.size);
}

/* Creates the model that outputs constants. Returns false if that is not possible. */
static bool make_constants(struct control *control)
{
    const struct subgraph *answer = control->answer;
    SCOPED_STRING(graph);
    SCOPED_STRING(others);
    SCOPED_STRING(model);
    SCOPED_ARENA(arena);
    bool ret = answer->outputs.count > 0;

    for (size_t i = 0; i < answer->inputs.count; i++) {
        const struct span info = known_types_info(answer->known, answer->model, answer->inputs.items[i]);

        wire_write_bytes(&others, GRAPH_INPUT, info.data, info.size);
    }
    for (size_t i = 0; ret && i < answer->outputs.count; i++)
        ret = add_output(control, answer->outputs.items[i], &arena, &graph, &others);
    if (ret) {
        wire_write_text(&graph, GRAPH_NAME, TEXT("control"));
        string_add_bytes(&graph, others.data, others.size);
        wrap_graph(answer->model, &graph, &model);
        control->constants_size = model.size;
        control->constants = string_take(&model);
    }
    return ret;
}

static int identify_constants(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    (void)data, (void)search, (void)err;
    ret->expectation = EXPECT_REMEDY;
    return 0;
}

/* Writes it with the data of the result. */
static int write_constants(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                           struct error *err)
{
    const struct control *control = data;
    int rc = candidate_data_write(control->maker->reference, control->answer, paths, err);

    (void)candidate;
    return rc == 0 ? file_write(paths->items[CANDIDATE_ARTIFACT], control->constants, control->constants_size,
                                FILE_INTERMEDIATE, err)
                   : rc;
}

/* VERDICT_SKIP also if there is no such model. */
static int check_constants(struct control *control, enum verdict *ret, struct error *err)
{
    struct session_subject subject = {.data = control, .identify = identify_constants, .write = write_constants};
    struct subgraph answer SCOPED(subgraph_release) = {0};
    int rc;

    *ret = VERDICT_SKIP;
    if (!make_constants(control))
        return 0;
    subgraph_init_copy(&answer, control->answer);
    rc = candidate_prepare(control->maker, &answer, err);
    if (rc == 0)
        rc = check_control(control, &subject, "a model with the result's inputs and outputs that computes nothing", ret,
                           err);
    free(control->constants);
    return rc;
}

/* ---- Both ---- */

int reduce_control_run(struct candidate_maker *maker, const struct subgraph *answer, struct debug_session *session,
                       struct log *log, enum control_outcome *ret, struct error *err)
{
    struct control control = {.maker = maker, .answer = answer, .session = session, .log = log};
    enum verdict constants = VERDICT_SKIP;
    bool passed = false;
    int rc;

    log_message(log, LOG_INFO, "No candidate passed. Testing whether the check fails on every model");
    bitset_init_copy(&control.rest, &maker->whole.nodes);
    bitset_subtract(&control.rest, &answer->nodes);
    rc = check_parts(&control, &passed, err);
    if (rc == 0 && !passed)
        rc = check_constants(&control, &constants, err);
    bitset_release(&control.rest);
    passed = passed || constants == VERDICT_PASS;
    *ret = passed ? CONTROL_PASSED : CONTROL_IMPOSSIBLE;
    if (rc < 0 || passed)
        return rc;
    if (constants == VERDICT_FAIL || control.failed == WANTED_PARTS)
        return belief_refuse_check(session, err,
                                   "the check fails on every model, also on models that share nothing with the result, "
                                   "so it proves nothing about the model%s. Last run",
                                   session_state(session).evidence->alike ? ". Its output is always the same" : "");
    return 0;
}
