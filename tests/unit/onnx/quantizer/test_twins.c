/* Which tensors of a float model those of a quantized model were, and what is left when quantizers are left out. */
#include <math.h>

#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/edit/model.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/quantizer/bypass.h"

static const float scale = 0.25F;

static void add_scale(struct made_model *made)
{
    static const uint8_t zero = 0;

    made_tensor(made, "s", DATA_FLOAT32, (struct shape){0}, &scale);
    made_tensor(made, "z", DATA_UINT8, (struct shape){0}, &zero);
}

/* QuantizeLinear and DequantizeLinear: `from` becomes `to`. */
static void add_pair(struct made_model *made, const char *from, const char *to)
{
    const char *integers = arena_printf(&made->arena, "%s_i", to);

    made_node(made, arena_printf(&made->arena, "q %s", to), "QuantizeLinear",
              arena_printf(&made->arena, "%s s z", from), integers, NULL, 0);
    made_node(made, arena_printf(&made->arena, "d %s", to), "DequantizeLinear",
              arena_printf(&made->arena, "%s s z", integers), to, NULL, 0);
}

/* A constant, and the same in int8: 0.25 is its scale. */
static void add_weight(struct made_model *made, const char *name, int8_t first, bool in_integers)
{
    int8_t integers[8];
    float values[8];

    for (int i = 0; i < 8; i++) {
        integers[i] = (int8_t)(first + i);
        values[i] = (float)(first + i) * scale + 0.01F;
    }
    if (in_integers)
        made_tensor(made, name, DATA_INT8, MADE_SHAPE(2, 4), integers);
    else
        made_tensor(made, name, DATA_FLOAT32, MADE_SHAPE(2, 4), values);
}

struct matched {
    struct made_model quantized_made, plain_made;
    struct model *quantized, *plain;
    struct quantizers quantizers;
    struct quantizer_twins twins;
};

static void begin_in(struct matched *matched, int64_t opset)
{
    made_init(&matched->quantized_made, opset);
    made_init(&matched->plain_made, opset);
    made_input(&matched->quantized_made, "x", MADE_SHAPE(3, 2));
    made_input(&matched->plain_made, "image", MADE_SHAPE(3, 2));
    add_scale(&matched->quantized_made);
}

static void begin(struct matched *matched)
{
    begin_in(matched, 13);
}

static void match(struct matched *matched)
{
    matched->quantized = made_open(&matched->quantized_made);
    matched->plain = made_open(&matched->plain_made);
    quantizers_find(matched->quantized, NULL, &matched->quantizers);
    quantizers_match(&matched->quantizers, matched->quantized, matched->plain, &matched->twins);
}

static void release(struct matched *matched)
{
    quantizer_twins_release(&matched->twins);
    quantizers_release(&matched->quantizers);
    model_free(matched->quantized);
    model_free(matched->plain);
    made_release(&matched->quantized_made);
    made_release(&matched->plain_made);
}

/* "x = image; w_q = w; ...", or "w_q: why not". */
static void assert_twins(const struct matched *matched, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < matched->quantizers.count; i++) {
        const struct quantizer_twin *twin = &matched->twins.items[i];

        string_add(&text, matched->quantizers.items[i].name);
        if (twin->tensor != VALUE_NONE)
            string_add_format(&text, " = " TEXT_FORMAT "\n",
                              TEXT_ARGS(matched->plain->values.items[twin->tensor].name));
        else
            string_add_format(&text, ": %s\n", twin->why_not);
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
}

/* The nodes of the model without these quantizers (a bit for each), as "operator(inputs)->outputs". */
static void assert_without(const struct matched *matched, unsigned which, const char *expected)
{
    struct model *copy = model_copy(matched->quantized);
    struct string_builder text;
    struct bitset off;
    struct error err = {0};

    bitset_init(&off, matched->quantizers.count);
    for (unsigned i = 0; i < matched->quantizers.count; i++)
        if ((which >> i & 1) != 0)
            bitset_add(&off, i);
    if (quantizers_bypass(copy, &matched->quantizers, &off, &matched->twins, &err) < 0)
        fail_msg("%s", err.message);
    string_init(&text);
    for (size_t i = 0; i < copy->nodes.count; i++) {
        const struct node *node = &copy->nodes.items[i];

        string_add_format(&text, "%s" TEXT_FORMAT "(%s)->%s", i > 0 ? "; " : "", TEXT_ARGS(node->op_type),
                          names_of_edges(copy, node->inputs), names_of_edges(copy, node->outputs));
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
    bitset_release(&off);
    model_free(copy);
}

/* Two layers, as a tool writes them that has other names for everything, and leaves a Relu to its quantizer. */
static void make_two_layers(struct matched *matched)
{
    struct made_model *made = &matched->quantized_made;

    begin(matched);
    add_weight(made, "w_q", -4, true);
    add_pair(made, "x", "xd");
    made_node(made, "dw", "DequantizeLinear", "w_q s", "w", NULL, 0);
    made_node(made, "mm", "MatMul", "xd w", "a", NULL, 0);
    add_pair(made, "a", "ad");
    made_node(made, "t", "Tanh", "ad", "b", NULL, 0);
    add_pair(made, "b", "y");
    made_output(made, "y");
    made = &matched->plain_made;
    add_weight(made, "kernel", -4, false);
    made_node(made, "1", "MatMul", "image kernel", "product", NULL, 0);
    made_node(made, "2", "Relu", "product", "positive", NULL, 0);
    made_node(made, "3", "Tanh", "positive", "result", NULL, 0);
    made_output(made, "result");
    match(matched);
}

static void tensors_are_matched_by_what_is_around_them(void **state)
{
    struct matched matched;

    make_two_layers(&matched);
    assert_twins(&matched, "x = image\n"
                           "w_q = kernel\n"
                           "a = positive\n"
                           "b = result\n");
    assert_true(matched.twins.items[2].least == 0 && matched.twins.items[2].largest == INFINITY);
    assert_true(matched.twins.items[3].least == -INFINITY);
    release(&matched);
}

/* The constant becomes the float model's, the Relu comes back, and the output keeps its name. */
static void what_is_left_out_leaves_the_float_model(void **state)
{
    struct matched matched;

    make_two_layers(&matched);
    assert_without(&matched, 15, "MatMul(x w)->a; Relu(a)->ad; Tanh(ad)->y");
    assert_without(&matched, 1,
                   "DequantizeLinear(w_q s)->w; MatMul(x w)->a; QuantizeLinear(a s z)->ad_i; "
                   "DequantizeLinear(ad_i s z)->ad; Tanh(ad)->b; QuantizeLinear(b s z)->y_i; "
                   "DequantizeLinear(y_i s z)->y");
    release(&matched);
}

static void a_constant_of_the_float_model_is_not_copied(void **state)
{
    struct matched matched;
    struct bitset off;
    struct error err = {0};
    uint32_t value;
    struct tensor_header header;

    make_two_layers(&matched);
    bitset_init(&off, matched.quantizers.count);
    bitset_add(&off, 1);
    if (quantizers_bypass(matched.quantized, &matched.quantizers, &off, &matched.twins, &err) < 0)
        fail_msg("%s", err.message);
    value = matched.quantized->values.items[fixture_value(matched.quantized, "w")].initializer;
    assert_int_not_equal(value, INITIALIZER_NONE);
    assert_int_equal(tensor_proto_read(matched.quantized->initializers.items[value].message, &header, &err), 0);
    assert_int_equal(header.type, DATA_FLOAT32);
    assert_true(header.raw.data >= matched.plain->file.data &&
                header.raw.data < matched.plain->file.data + matched.plain->file.size);
    bitset_release(&off);
    release(&matched);
}

/* Outputs that nothing can be renamed for: an input, and a tensor that is an output itself. */
static void outputs_that_cannot_be_renamed_are_copied(void **state)
{
    struct matched matched;

    begin(&matched);
    add_pair(&matched.quantized_made, "x", "xd");
    made_node(&matched.quantized_made, "t", "Tanh", "xd", "a", NULL, 0);
    add_pair(&matched.quantized_made, "a", "ad");
    add_pair(&matched.quantized_made, "ad", "add");
    made_output(&matched.quantized_made, "xd");
    made_output(&matched.quantized_made, "a");
    made_output(&matched.quantized_made, "add");
    made_node(&matched.plain_made, "t", "Tanh", "image", "a", NULL, 0);
    made_output(&matched.plain_made, "a");
    match(&matched);
    assert_without(&matched, 7, "Identity(x)->xd; Tanh(x)->a; Identity(a)->add");
    release(&matched);
}

/* Two branches of the same operators. The names of their nodes say which is which; without these, nothing does. */
static void branches_that_are_alike_are_not_guessed(void **state)
{
    for (int named = 0; named < 2; named++) {
        struct matched matched;

        begin(&matched);
        made_node(&matched.quantized_made, named ? "l" : "", "Tanh", "x", "a", NULL, 0);
        add_pair(&matched.quantized_made, "a", "ad");
        made_node(&matched.quantized_made, named ? "r" : "", "Tanh", "x", "b", NULL, 0);
        made_node(&matched.quantized_made, "mystery", "Max", "ad b", "y", NULL, 0);
        made_output(&matched.quantized_made, "y");
        made_node(&matched.plain_made, named ? "r" : "", "Tanh", "image", "first", NULL, 0);
        made_node(&matched.plain_made, named ? "l" : "", "Tanh", "image", "second", NULL, 0);
        made_node(&matched.plain_made, "other", "Min", "first second", "z", NULL, 0);
        made_output(&matched.plain_made, "z");
        match(&matched);
        if (named) {
            assert_twins(&matched, "a = second\n");
        } else {
            assert_int_equal(matched.twins.items[0].tensor, VALUE_NONE);
            assert_non_null(matched.twins.items[0].why_not);
        }
        release(&matched);
    }
}

/* A constant in the right place whose values are none that were rounded: of another model, say. */
static void constants_have_to_have_the_values(void **state)
{
    struct matched matched;
    struct bitset off;
    struct error err = {0};

    begin(&matched);
    add_weight(&matched.quantized_made, "w_q", 1, true);
    made_node(&matched.quantized_made, "dw", "DequantizeLinear", "w_q s", "w", NULL, 0);
    made_node(&matched.quantized_made, "mm", "MatMul", "x w", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    add_weight(&matched.plain_made, "kernel", -9, false);
    made_node(&matched.plain_made, "mm", "MatMul", "image kernel", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "w_q: the corresponding constant of the float model has different values\n");
    bitset_init(&off, 1);
    bitset_add(&off, 0);
    assert_int_equal(quantizers_bypass(matched.quantized, &matched.quantizers, &off, &matched.twins, &err),
                     ERR_UNSUPPORTED);
    assert_string_equal(err.message, "made: the quantizer 'w_q' (stored, weight) cannot be bypassed: "
                                     "the corresponding constant of the float model has different values");
    bitset_release(&off);
    release(&matched);
}

/* Nearly all of it became 0: that is what its scale is like, not another constant. One value may be lost. */
static void a_coarse_scale_does_not_part_twins(void **state)
{
    static const int8_t integers[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    static const float values[8] = {3, -0.12F, 0.12F, 0.13F, -0.12F, 0.12F, -0.12F, 0.12F};
    struct matched matched;

    begin(&matched);
    made_tensor(&matched.quantized_made, "w_q", DATA_INT8, MADE_SHAPE(2, 4), integers);
    made_node(&matched.quantized_made, "dw", "DequantizeLinear", "w_q s", "w", NULL, 0);
    made_node(&matched.quantized_made, "mm", "MatMul", "x w", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    made_tensor(&matched.plain_made, "kernel", DATA_FLOAT32, MADE_SHAPE(2, 4), values);
    made_node(&matched.plain_made, "mm", "MatMul", "image kernel", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "w_q = kernel\n");
    release(&matched);
}

/* A weight in integers, and a layer with it. */
static void add_product(struct matched *matched, const char *op_type, const char *inputs, const char *output)
{
    add_weight(&matched->quantized_made, "w_q", -4, true);
    made_node(&matched->quantized_made, "dw", "DequantizeLinear", "w_q s", "w", NULL, 0);
    made_node(&matched->quantized_made, "product", op_type, inputs, output, NULL, 0);
}

/* Both bounds come back: before operator set 11 as attributes. */
static void a_clip_that_is_left_to_a_quantizer_comes_back(void **state)
{
    const struct node_attribute bounds[] = {FLOAT("min", 0), FLOAT("max", 6)};
    const float least = 0, largest = 6;

    for (int64_t opset = 10; opset <= 13; opset += 3) {
        struct matched matched;

        begin_in(&matched, opset);
        add_product(&matched, "MatMul", "x w", "a");
        add_pair(&matched.quantized_made, "a", "y");
        made_output(&matched.quantized_made, "y");
        add_weight(&matched.plain_made, "kernel", -4, false);
        made_tensor(&matched.plain_made, "least", DATA_FLOAT32, (struct shape){0}, &least);
        made_tensor(&matched.plain_made, "largest", DATA_FLOAT32, (struct shape){0}, &largest);
        made_node(&matched.plain_made, "1", "MatMul", "image kernel", "product", NULL, 0);
        made_node(&matched.plain_made, "2", "Clip", opset < 11 ? "product" : "product least largest", "z", bounds,
                  opset < 11 ? 2 : 0);
        made_output(&matched.plain_made, "z");
        match(&matched);
        assert_twins(&matched, "w_q = kernel\na = z\n");
        assert_true(matched.twins.items[1].least == 0 && matched.twins.items[1].largest == 6);
        assert_without(&matched, 3,
                       opset < 11 ? "MatMul(x w)->a; Clip(a)->y" : "MatMul(x w)->a; Clip(a a_bound a_bound_1)->y");
        release(&matched);
    }
}

/* What more than the Relu reads cannot have been left out in front of it. */
static void an_activation_is_not_stepped_over_when_others_read_what_it_reads(void **state)
{
    struct matched matched;

    begin(&matched);
    add_product(&matched, "MatMul", "x w", "a");
    add_pair(&matched.quantized_made, "a", "ad");
    made_node(&matched.quantized_made, "t", "Tanh", "ad", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    add_weight(&matched.plain_made, "kernel", -4, false);
    made_node(&matched.plain_made, "1", "MatMul", "image kernel", "product", NULL, 0);
    made_node(&matched.plain_made, "2", "Relu", "product", "positive", NULL, 0);
    made_node(&matched.plain_made, "3", "Tanh", "positive", "y", NULL, 0);
    made_node(&matched.plain_made, "4", "Neg", "product", "other", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "w_q = kernel\na: several tensors of the float model correspond to it\n");
    release(&matched);
}

static void a_folded_normalization_leaves_weights_without_a_twin(void **state)
{
    struct matched matched;

    begin(&matched);
    add_pair(&matched.quantized_made, "x", "xd");
    add_product(&matched, "Conv", "xd w", "y");
    made_output(&matched.quantized_made, "y");
    add_weight(&matched.plain_made, "kernel", -4, false);
    made_node(&matched.plain_made, "1", "Conv", "image kernel", "c", NULL, 0);
    made_node(&matched.plain_made, "2", "BatchNormalization", "c a a a a", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "x = image\nw_q: a BatchNormalization of the float model was folded into it\n");
    release(&matched);
}

/* The addend may stand on either side. */
static void a_gemm_is_a_product_and_a_sum(void **state)
{
    const char *const sums[] = {"product bias", "bias product"};

    for (int i = 0; i < 2; i++) {
        struct matched matched;

        begin(&matched);
        add_pair(&matched.quantized_made, "x", "xd");
        made_constant(&matched.quantized_made, "b", MADE_SHAPE(4), -1, 1);
        add_pair(&matched.quantized_made, "b", "bd");
        add_product(&matched, "Gemm", "xd w bd", "y");
        made_output(&matched.quantized_made, "y");
        add_weight(&matched.plain_made, "kernel", -4, false);
        made_constant(&matched.plain_made, "bias", MADE_SHAPE(4), -1, 1);
        made_node(&matched.plain_made, "1", "MatMul", "image kernel", "product", NULL, 0);
        made_node(&matched.plain_made, "2", "Add", sums[i], "y", NULL, 0);
        made_output(&matched.plain_made, "y");
        match(&matched);
        assert_twins(&matched, "x = image\nb = bias\nw_q = kernel\n");
        release(&matched);
    }
}

static void sides_of_a_sum_may_have_changed_places(void **state)
{
    struct matched matched;

    begin(&matched);
    made_node(&matched.quantized_made, "t", "Tanh", "x", "a", NULL, 0);
    add_pair(&matched.quantized_made, "a", "ad");
    made_node(&matched.quantized_made, "n", "Neg", "x", "b", NULL, 0);
    add_pair(&matched.quantized_made, "b", "bd");
    made_node(&matched.quantized_made, "sum", "Add", "bd ad", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    made_node(&matched.plain_made, "t", "Tanh", "image", "left", NULL, 0);
    made_node(&matched.plain_made, "n", "Neg", "image", "right", NULL, 0);
    made_node(&matched.plain_made, "sum", "Add", "left right", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "a = left\nb = right\n");
    release(&matched);
}

/* One node of the float model in whose place there are two; and nodes whose attributes say something else. */
static void nodes_that_are_not_alike_are_not_paired(void **state)
{
    const struct node_attribute last = INTEGER("axis", 1), first = INTEGER("axis", 0);
    const int64_t rows_first[] = {0, 1}, columns_first[] = {1, 0};
    struct node_attribute order = {.name = TEXT("perm"), .kind = ATTRIBUTE_KIND_INTEGERS, .count = 2};
    struct matched matched;

    begin(&matched);
    made_node(&matched.quantized_made, "", "Tanh", "x", "a", NULL, 0);
    made_node(&matched.quantized_made, "", "Tanh", "x", "b", NULL, 0);
    add_pair(&matched.quantized_made, "a", "ad");
    made_node(&matched.quantized_made, "", "Softmax", "x", "c", &last, 1);
    add_pair(&matched.quantized_made, "c", "cd");
    order.integers = rows_first;
    made_node(&matched.quantized_made, "", "Transpose", "x", "e", &order, 1);
    add_pair(&matched.quantized_made, "e", "ed");
    made_node(&matched.quantized_made, "", "Max", "ad b cd ed", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    made_node(&matched.plain_made, "", "Tanh", "image", "t", NULL, 0);
    made_node(&matched.plain_made, "", "Softmax", "image", "s", &first, 1);
    order.integers = columns_first;
    made_node(&matched.plain_made, "", "Transpose", "image", "o", &order, 1);
    made_node(&matched.plain_made, "", "Min", "t s o", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(matched.twins.items[i].tensor, VALUE_NONE);
    release(&matched);
}

/* Of MatMulNBits the left side is in float, of QLinearWhere the condition is no quantized tensor. */
static void operators_on_integers_are_matched_by_all_that_they_compute_with(void **state)
{
    static const uint8_t packed[4];
    struct made_model *made;
    struct matched matched;

    begin_in(&matched, 16);
    made = &matched.quantized_made;
    made_tensor(made, "w", DATA_UINT8, MADE_SHAPE(2, 1, 2), packed);
    made_node(made, "", "Tanh", "x", "a", NULL, 0);
    add_pair(made, "a", "ad");
    made_node(made, "", "com.microsoft.MatMulNBits", "ad w s", "b", NULL, 0);
    made_node(made, "", "QuantizeLinear", "b s z", "bi", NULL, 0);
    made_node(made, "", "com.microsoft.QLinearConcat", "s z bi s z bi s z", "c", NULL, 0);
    made_node(made, "", "Not", "m", "n", NULL, 0);
    made_node(made, "", "com.microsoft.QLinearWhere", "n bi s z c s z s z", "e", NULL, 0);
    made_node(made, "", "DequantizeLinear", "e s z", "y", NULL, 0);
    made_typed_input(made, "m", DATA_BOOL, MADE_SHAPE(3, 2));
    made_output(made, "y");
    made = &matched.plain_made;
    made_constant(made, "w", MADE_SHAPE(2, 2), -1, 1);
    made_typed_input(made, "mask", DATA_BOOL, MADE_SHAPE(3, 2));
    made_node(made, "", "Tanh", "image", "t", NULL, 0);
    made_node(made, "", "MatMul", "t w", "p", NULL, 0);
    made_node(made, "", "Concat", "p p", "q", NULL, 0);
    made_node(made, "", "Not", "mask", "n", NULL, 0);
    made_node(made, "", "Where", "n p q", "r", NULL, 0);
    made_output(made, "r");
    match(&matched);
    assert_twins(&matched, "a = t\n"
                           "w: 'w' of the float model has another shape\n"
                           "b = p\n"
                           "c = q\n"
                           "e = r\n");
    release(&matched);
}

/* A constant of the float model that two layers share: the first that is walked to has it. */
static void two_constants_are_no_twins_of_one(void **state)
{
    struct matched matched;

    begin(&matched);
    add_weight(&matched.quantized_made, "v_q", -4, true);
    made_node(&matched.quantized_made, "dv", "DequantizeLinear", "v_q s", "v", NULL, 0);
    add_product(&matched, "MatMul", "x w", "a");
    made_node(&matched.quantized_made, "sum", "Sub", "a v", "y", NULL, 0);
    made_output(&matched.quantized_made, "y");
    add_weight(&matched.plain_made, "kernel", -4, false);
    made_node(&matched.plain_made, "1", "MatMul", "image kernel", "a", NULL, 0);
    made_node(&matched.plain_made, "2", "Sub", "a kernel", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "v_q = kernel\nw_q: its twin in the float model is also the twin of another tensor\n");
    release(&matched);
}

static void a_constant_is_no_twin_of_what_is_computed(void **state)
{
    struct matched matched;

    begin(&matched);
    add_product(&matched, "MatMul", "x w", "y");
    made_output(&matched.quantized_made, "y");
    add_weight(&matched.plain_made, "stored", -4, false);
    made_node(&matched.plain_made, "0", "Tanh", "stored", "kernel", NULL, 0);
    made_node(&matched.plain_made, "1", "MatMul", "image kernel", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_twins(&matched, "w_q: it is a constant here, and 'kernel' of the float model is computed\n");
    release(&matched);
}

/* A constant keeps the name that it has in front of its reader. */
static void a_constant_that_is_an_output_as_well_is_copied(void **state)
{
    struct matched matched;

    begin(&matched);
    add_product(&matched, "MatMul", "x w", "y");
    made_node(&matched.quantized_made, "again", "DequantizeLinear", "w_q s", "out", NULL, 0);
    made_output(&matched.quantized_made, "y");
    made_output(&matched.quantized_made, "out");
    add_weight(&matched.plain_made, "kernel", -4, false);
    made_node(&matched.plain_made, "1", "MatMul", "image kernel", "y", NULL, 0);
    made_output(&matched.plain_made, "y");
    match(&matched);
    assert_without(&matched, 1, "MatMul(x w)->y; Identity(w)->out");
    release(&matched);
}

/* Two outputs of one quantizer: the tensor can only have the name of one. What computed the scale goes, too. */
static void what_only_a_quantizer_asked_for_goes_with_it(void **state)
{
    struct matched matched;

    begin(&matched);
    made_node(&matched.quantized_made, "t", "Tanh", "x", "a", NULL, 0);
    made_node(&matched.quantized_made, "m", "ReduceMax", "a", "scale", NULL, 0);
    made_node(&matched.quantized_made, "q", "QuantizeLinear", "a scale", "i", NULL, 0);
    made_node(&matched.quantized_made, "d1", "DequantizeLinear", "i scale", "y1", NULL, 0);
    made_node(&matched.quantized_made, "d2", "DequantizeLinear", "i scale", "y2", NULL, 0);
    made_output(&matched.quantized_made, "y1");
    made_output(&matched.quantized_made, "y2");
    made_node(&matched.plain_made, "t", "Tanh", "image", "y1", NULL, 0);
    made_output(&matched.plain_made, "y1");
    match(&matched);
    assert_without(&matched, 1, "Tanh(x)->y1; Identity(y1)->y2");
    release(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_matched_by_what_is_around_them),
        cmocka_unit_test(what_is_left_out_leaves_the_float_model),
        cmocka_unit_test(a_constant_of_the_float_model_is_not_copied),
        cmocka_unit_test(outputs_that_cannot_be_renamed_are_copied),
        cmocka_unit_test(branches_that_are_alike_are_not_guessed),
        cmocka_unit_test(constants_have_to_have_the_values),
        cmocka_unit_test(a_coarse_scale_does_not_part_twins),
        cmocka_unit_test(a_clip_that_is_left_to_a_quantizer_comes_back),
        cmocka_unit_test(an_activation_is_not_stepped_over_when_others_read_what_it_reads),
        cmocka_unit_test(a_folded_normalization_leaves_weights_without_a_twin),
        cmocka_unit_test(a_gemm_is_a_product_and_a_sum),
        cmocka_unit_test(sides_of_a_sum_may_have_changed_places),
        cmocka_unit_test(nodes_that_are_not_alike_are_not_paired),
        cmocka_unit_test(operators_on_integers_are_matched_by_all_that_they_compute_with),
        cmocka_unit_test(two_constants_are_no_twins_of_one),
        cmocka_unit_test(a_constant_is_no_twin_of_what_is_computed),
        cmocka_unit_test(a_constant_that_is_an_output_as_well_is_copied),
        cmocka_unit_test(what_only_a_quantizer_asked_for_goes_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
