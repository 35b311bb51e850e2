/* backend/exact/recurrent.c: LSTM, GRU and RNN, with the equations of the ONNX specification. */
#include <math.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/wire.h"

#define MOST_GATES 4

/* Positions of a node's optional inputs. */
enum { INPUT_BIAS = 3, INPUT_LENGTHS = 4, INPUT_HIDDEN = 5, INPUT_CELL = 6, INPUT_PEEPHOLES = 7 };

/* Sizes of a node, and where its tensors of the current direction begin. */
struct recurrence {
    const struct exact_options *options;
    size_t steps, batch, inputs, hidden, directions, gates;
    bool resets_last;                        /* GRU: linear_before_reset */
    const double *weights, *recurrent;       /* of a direction */
    const double *input_bias, *hidden_bias;  /* NULL: none */
    const double *peepholes;                 /* NULL: none */
    double *state, *cell;                    /* of one element of the batch */
    double *from_input, *from_hidden, *next; /* sums of the gates; what becomes the state */
};

/* ---- One step ---- */

/* Adds up row `row` of a matrix with a vector, and its bias. */
static double add_row(const struct recurrence *rnn, const double *matrix, size_t row, const double *vector, size_t size,
                      const double *bias)
{
    double sum = bias != NULL ? bias[row] : 0;

    for (size_t i = 0; i < size; i++) {
        size_t at = rnn->options->backwards ? size - 1 - i : i;

        sum = exact_round_sum(rnn->options, sum + matrix[row * size + at] * vector[at]);
    }
    return sum;
}

static void sum_gates(struct recurrence *rnn, const double *input)
{
    for (size_t row = 0; row < rnn->gates * rnn->hidden; row++) {
        rnn->from_input[row] = add_row(rnn, rnn->weights, row, input, rnn->inputs, rnn->input_bias);
        rnn->from_hidden[row] = add_row(rnn, rnn->recurrent, row, rnn->state, rnn->hidden, rnn->hidden_bias);
    }
}

static double gate_of(const struct recurrence *rnn, size_t gate, size_t i)
{
    return rnn->from_input[gate * rnn->hidden + i] + rnn->from_hidden[gate * rnn->hidden + i];
}

/* Gates i, o, f, c; peepholes i, o, f. */
static void step_lstm(struct recurrence *rnn)
{
    const double *peepholes = rnn->peepholes;
    size_t n = rnn->hidden;

    for (size_t i = 0; i < n; i++) {
        double old = rnn->cell[i];
        double enter = exact_sigmoid(gate_of(rnn, 0, i) + (peepholes != NULL ? peepholes[i] * old : 0));
        double forget = exact_sigmoid(gate_of(rnn, 2, i) + (peepholes != NULL ? peepholes[2 * n + i] * old : 0));
        double cell = exact_round(rnn->options, forget * old + enter * tanh(gate_of(rnn, 3, i)));
        double leave = exact_sigmoid(gate_of(rnn, 1, i) + (peepholes != NULL ? peepholes[n + i] * cell : 0));

        rnn->cell[i] = cell;
        rnn->next[i] = exact_round(rnn->options, leave * tanh(cell));
    }
}

/* What a GRU's candidate reads of the state, where the reset comes first: (r . H) R^T + b. */
static double reset_before(const struct recurrence *rnn, const double *reset_state, size_t i)
{
    return add_row(rnn, rnn->recurrent, 2 * rnn->hidden + i, reset_state, rnn->hidden, rnn->hidden_bias);
}

/* Gates z, r, h. */
static void step_gru(struct recurrence *rnn)
{
    size_t n = rnn->hidden;
    double *reset = rnn->cell; /* a GRU has no cell */

    for (size_t i = 0; i < n; i++)
        reset[i] = exact_sigmoid(gate_of(rnn, 1, i)) * (rnn->resets_last ? 1 : rnn->state[i]);
    for (size_t i = 0; i < n; i++) {
        double update = exact_sigmoid(gate_of(rnn, 0, i));
        double read = rnn->resets_last ? reset[i] * rnn->from_hidden[2 * n + i] : reset_before(rnn, reset, i);
        double candidate = tanh(rnn->from_input[2 * n + i] + read);

        rnn->next[i] = exact_round(rnn->options, (1 - update) * candidate + update * rnn->state[i]);
    }
}

static void step_rnn(struct recurrence *rnn)
{
    for (size_t i = 0; i < rnn->hidden; i++)
        rnn->next[i] = exact_round(rnn->options, tanh(gate_of(rnn, 0, i)));
}

/* ---- A node ---- */

/* Whether the activations are those of the specification, for each direction. */
static bool has_default_activations(const struct exact_call *call, bool has_gates)
{
    static const char *const gated[] = {"Sigmoid", "Tanh", "Tanh"}, *const plain[] = {"Tanh"};
    size_t each = node_is(call->node, "LSTM") ? 3 : has_gates ? 2 : 1, count = 0;
    struct wire_reader reader;
    struct wire_field field;
    struct span attribute;

    if (!node_attribute_find(call->node->message, "activations", &attribute))
        return true;
    reader = wire_reader_of(attribute);
    while (wire_next(&reader, &field))
        if (field.number == ATTRIBUTE_STRINGS && field.type == WIRE_BYTES &&
            !text_equal_string(span_text(field.bytes), (has_gates ? gated : plain)[count++ % each]))
            return false;
    return true;
}

static bool is_supported(const struct exact_call *call, bool has_gates)
{
    struct span clip;

    return has_default_activations(call, has_gates) && exact_input(call, INPUT_LENGTHS) == NULL &&
           node_attribute_integer(call->node->message, "layout", 0) == 0 &&
           node_attribute_integer(call->node->message, "input_forget", 0) == 0 &&
           !node_attribute_find(call->node->message, "clip", &clip);
}

static bool has_elements(const struct exact_call *call, size_t input, size_t elements)
{
    return exact_input(call, input) == NULL || exact_count(exact_input(call, input)) == elements;
}

/* Reads sizes, and checks those of all inputs. */
static bool read_sizes(const struct exact_call *call, struct recurrence *rnn)
{
    const struct shape *x = exact_shape(call->inputs[0]), *w = exact_shape(call->inputs[1]);
    size_t rows, state;

    if (x->rank != 3 || w->rank != 3 || (size_t)w->dims[1] % rnn->gates != 0 || w->dims[0] < 1 || w->dims[0] > 2)
        return false;
    rnn->steps = (size_t)x->dims[0];
    rnn->batch = (size_t)x->dims[1];
    rnn->inputs = (size_t)x->dims[2];
    rnn->directions = (size_t)w->dims[0];
    rnn->hidden = (size_t)w->dims[1] / rnn->gates;
    rows = rnn->directions * rnn->gates * rnn->hidden;
    state = rnn->directions * rnn->batch * rnn->hidden;
    return rnn->hidden > 0 && (size_t)w->dims[2] == rnn->inputs && exact_count(call->inputs[2]) == rows * rnn->hidden &&
           has_elements(call, INPUT_BIAS, 2 * rows) && has_elements(call, INPUT_HIDDEN, state) &&
           has_elements(call, INPUT_CELL, state) &&
           has_elements(call, INPUT_PEEPHOLES, rnn->directions * 3 * rnn->hidden);
}

/* Also a sequence of no steps, and a batch of no elements, have a state: each size counts at least once. */
static bool is_too_large(const struct recurrence *rnn)
{
    double sequences = (double)rnn->directions * (double)(rnn->batch > 0 ? rnn->batch : 1);
    double products = (double)rnn->gates * (double)rnn->hidden * ((double)rnn->inputs + (double)rnn->hidden);

    return sequences * (double)(rnn->steps > 0 ? rnn->steps : 1) * products > (double)EXACT_MOST_PRODUCTS;
}

static void begin_direction(const struct exact_call *call, struct recurrence *rnn, size_t direction)
{
    const struct exact_value *bias = exact_input(call, INPUT_BIAS), *peepholes = exact_input(call, INPUT_PEEPHOLES);
    size_t rows = rnn->gates * rnn->hidden;

    rnn->weights = &exact_items(call->inputs[1])[direction * rows * rnn->inputs];
    rnn->recurrent = &exact_items(call->inputs[2])[direction * rows * rnn->hidden];
    rnn->input_bias = bias != NULL ? &exact_items(bias)[direction * 2 * rows] : NULL;
    rnn->hidden_bias = bias != NULL ? &rnn->input_bias[rows] : NULL;
    rnn->peepholes = peepholes != NULL ? &exact_items(peepholes)[direction * 3 * rnn->hidden] : NULL;
}

/* The initial state of one element of the batch: zeros where it is not given. */
static void begin_state(const struct exact_call *call, const struct recurrence *rnn, size_t input, size_t at,
                        double *state)
{
    const struct exact_value *given = exact_input(call, input);

    for (size_t i = 0; i < rnn->hidden; i++)
        state[i] = given != NULL ? exact_items(given)[at * rnn->hidden + i] : 0;
}

/* One element of the batch, in one direction. `outputs` are the elements of Y, Y_h and Y_c, NULL where omitted. */
static void run_sequence(const struct exact_call *call, struct recurrence *rnn, size_t direction, size_t element,
                         double *const *outputs)
{
    struct text name = exact_text_attribute(call, "direction", "forward");
    bool is_reverse = direction == 1 || text_equal_string(name, "reverse");
    size_t at = direction * rnn->batch + element, size = rnn->hidden * sizeof(double);

    begin_state(call, rnn, INPUT_HIDDEN, at, rnn->state);
    begin_state(call, rnn, INPUT_CELL, at, rnn->cell);
    for (size_t k = 0; k < rnn->steps; k++) {
        size_t step = is_reverse ? rnn->steps - 1 - k : k;

        sum_gates(rnn, &exact_items(call->inputs[0])[(step * rnn->batch + element) * rnn->inputs]);
        (rnn->gates == 4 ? step_lstm : rnn->gates == 3 ? step_gru : step_rnn)(rnn);
        memcpy(rnn->state, rnn->next, size);
        if (outputs[0] != NULL)
            memcpy(&outputs[0][((step * rnn->directions + direction) * rnn->batch + element) * rnn->hidden], rnn->state,
                   size);
    }
    if (outputs[1] != NULL)
        memcpy(&outputs[1][at * rnn->hidden], rnn->state, size);
    if (outputs[2] != NULL)
        memcpy(&outputs[2][at * rnn->hidden], rnn->cell, size);
}

static void run_directions(const struct exact_call *call, struct recurrence *rnn, double *const *outputs)
{
    size_t rows = rnn->gates * rnn->hidden;
    double *buffer SCOPED_FREE = memory_alloc_zero(2 * rows + 3 * rnn->hidden + 1, sizeof(*buffer));

    rnn->from_input = buffer;
    rnn->from_hidden = &buffer[rows];
    rnn->state = &buffer[2 * rows];
    rnn->cell = &rnn->state[rnn->hidden];
    rnn->next = &rnn->cell[rnn->hidden];
    for (size_t direction = 0; direction < rnn->directions; direction++) {
        begin_direction(call, rnn, direction);
        for (size_t element = 0; element < rnn->batch; element++)
            run_sequence(call, rnn, direction, element, outputs);
    }
}

static int compute_recurrent(struct exact_call *call, struct error *err)
{
    bool is_lstm = node_is(call->node, "LSTM"), is_gru = node_is(call->node, "GRU");
    struct recurrence rnn = {.options = call->options,
                             .gates = is_lstm  ? 4
                                      : is_gru ? 3
                                               : 1,
                             .resets_last = node_attribute_integer(call->node->message, "linear_before_reset", 0) != 0};
    double *outputs[3] = {NULL};
    struct shape all, last;
    int rc;

    if (!is_supported(call, is_lstm || is_gru))
        return exact_refuse(call, err, "its activations, lengths or layout are not computed in float64");
    if (!read_sizes(call, &rnn))
        return exact_refuse_shapes(call, err);
    last = (struct shape){.rank = 3, .dims = {(int64_t)rnn.directions, (int64_t)rnn.batch, (int64_t)rnn.hidden}};
    all = (struct shape){.rank = 4, .dims = {(int64_t)rnn.steps, last.dims[0], last.dims[1], last.dims[2]}};
    if (is_too_large(&rnn))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    for (size_t i = 0; i < call->output_count && i < ARRAY_LEN(outputs); i++) {
        rc = exact_allocate(call, i, call->inputs[0]->type, i == 0 ? &all : &last, &outputs[i], err);
        if (rc < 0)
            return rc;
    }
    run_directions(call, &rnn, outputs);
    return 0;
}

const struct exact_operator exact_recurrent_operators[] = {
    {"RNN", 3, false, compute_recurrent, NULL},
    {"GRU", 3, false, compute_recurrent, NULL},
    {"LSTM", 3, false, compute_recurrent, NULL},
    {0},
};
