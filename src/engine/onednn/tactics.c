/* engine/onednn/tactics.c: oneDNN's implementations as tactics.
 *
 * A tactic's name is "<variant>/<implementation> <layouts>": the variant is omitted if it has no name, and there is a
 * single layout if run-time inputs and output agree. "jit:avx512_core aBcd16b", "gemm:jit acdb>abcd". With the suffix "
 * sum", a fused addition adds to the output in place instead of reading its operand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "engine/onednn/onnx.h"

static const struct onednn_operation *const operations[] = {
    &onednn_convolution,
    &onednn_deconvolution,
    &onednn_matmul,
    &onednn_pooling,
    &onednn_activation_layer,
    &onednn_binary,
    &onednn_concatenation,
    &onednn_softmax,
    &onednn_batch_normalization,
    &onednn_layer_normalization,
    &onednn_lrn,
    &onednn_reduction,
    &onednn_resize,
};

struct onednn_provider {
    struct tactic_provider provider;
    const struct onednn *onednn;
    int threads;
};

static const char *const nameless[] = {"", NULL};

/* ---- names ---- */

static void add_layout_text(struct string_builder *text, const struct layout *layout, size_t rank)
{
    if (layout->text[0] != '\0') {
        string_add(text, layout->text);
        return;
    }
    for (size_t i = 0; i < rank; i++)
        string_add_char(text, (char)('a' + (int)i));
    if (rank == 0)
        string_add_char(text, 'a');
}

/* Appends the layouts of run-time inputs and of the output: all of them, or one if they are equal. */
static void add_layout_texts(struct string_builder *text, const struct kernel_request *request,
                             const struct layout *inputs, const struct layout *output, size_t output_rank)
{
    SCOPED_STRING(first);
    SCOPED_STRING(next);
    bool same = true;

    add_layout_text(&first, output, output_rank);
    for (size_t i = 0; i < request->layer->inputs.count; i++) {
        if (!request->inputs[i].present || request->inputs[i].constant)
            continue;
        if (next.size > 0)
            string_add_char(&next, ',');
        size_t before = next.size;
        add_layout_text(&next, &inputs[i], request->inputs[i].shape.rank);
        if (strcmp(next.data + before, first.data) != 0)
            same = false;
    }
    if (!same) {
        string_add(text, next.data);
        string_add_char(text, '>');
    }
    string_add(text, first.data);
}

/* Replaces the end of a name that is too long with its hash. */
static void limit_tactic_name(struct string_builder *name)
{
    char digits[HASH_TEXT_SIZE];

    if (name->size < TACTIC_NAME_SIZE)
        return;
    hash_to_text(hash_bytes(name->data, name->size), digits);
    string_truncate(name, TACTIC_NAME_SIZE - 18);
    string_add_format(name, "~%.16s", digits);
}

/* "<variant>/<implementation>". Blanks in implementation names would be replaced. */
static void add_implementation_name(struct string_builder *text, const char *variant, const char *implementation)
{
    if (*variant)
        string_add_format(text, "%s/", variant);
    for (; *implementation; implementation++)
        string_add_char(text, *implementation == ' ' ? '_' : *implementation);
}

static void name_onednn_tactic(const struct onednn_attempt *attempt, const char *variant, const char *implementation,
                               const struct layout *inputs, const struct layout *output, struct string_builder *ret)
{
    string_clear(ret);
    add_implementation_name(ret, variant, implementation);
    string_add_char(ret, ' ');
    add_layout_texts(ret, attempt->request, inputs, output, attempt->output_shape.rank);
    if (attempt->add_as_sum)
        string_add(ret, " sum");
    limit_tactic_name(ret);
}

/* ---- enumeration of implementations ---- */

/* Whether `add_as_sum` can make a difference. */
static bool layer_adds_operands(const struct layer *layer)
{
    for (size_t i = 0; i < layer->fused.count; i++) {
        if (layer->fused.items[i].kind == FUSED_ADD)
            return true;
    }
    return false;
}

struct visitor {
    struct onednn_provider *self;
    const struct kernel_request *request;
    const char *variant;
    struct layout *inputs; /* layer->inputs.count elements */
    struct string_builder name;
    struct tactic_list *tactics; /* while listing */
    const struct tactic *wanted; /* while a kernel is created */
    struct kernel *kernel;
    int rc;
    struct error *err;
};

/* Describes the operation in all variants, until a kernel is created. */
static void visit_layout_variants(struct visitor *visitor, struct onednn_attempt *attempt,
                                  const struct onednn_operation *operation,
                                  bool (*visit)(void *, struct onednn_attempt *, const struct dnnl_primitive_desc *,
                                                const char *))
{
    const char *const *variants = operation->variants ? operation->variants : nameless;

    for (attempt->variant = 0; variants[attempt->variant]; attempt->variant++) {
        visitor->variant = variants[attempt->variant];
        for (int sum = 0;
             sum <= (layer_adds_operands(visitor->request->layer) ? 1 : 0) && !visitor->kernel && visitor->rc == 0;
             sum++) {
            attempt->add_as_sum = sum != 0;
            onednn_attempt_each(attempt, operation, visit, visitor);
        }
    }
}

/* Describes the layer in all layouts that are tried when tactics are listed. */
static void visit_layout_choices(struct visitor *visitor, struct onednn_attempt *attempt,
                                 bool (*visit)(void *, struct onednn_attempt *, const struct dnnl_primitive_desc *,
                                               const char *))
{
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (operations[i]->kind != visitor->request->layer->kind)
            continue;
        for (unsigned choice = 1; choice <= operations[i]->layouts; choice <<= 1) {
            attempt->layouts = (enum onednn_layouts)choice;
            if (operations[i]->layouts & choice)
                visit_layout_variants(visitor, attempt, operations[i], visit);
        }
    }
}

static bool attempt_reads_operands(const struct onednn_computation *computation)
{
    for (size_t i = 0; i < computation->post_ops.count; i++)
        if (computation->post_ops.items[i].kind == ONEDNN_POST_BINARY)
            return true;
    return false;
}

/* Whether the implementation is known to be wrong in 2.6 with additions to its output. Convolutions by matrix product
 * ("x64:gemm:jit") read operands as if the output were row-major, and only the first element of scalars; depthwise
 * convolutions ("brdgmm_dw:...") skip the last channels of a single pixel; those for SSE 4.1 crash if they add to
 * unaligned pixels. */
static bool implementation_is_wrong(const struct onednn_attempt *attempt, const char *implementation,
                                    const struct layout *output)
{
    const struct shape *shape = &attempt->output_shape;

    if (strstr(implementation, "gemm:"))
        return attempt_reads_operands(&attempt->computation) &&
               (!layout_is_row_major(output) || (onednn_is_one_pixel(shape) && shape->dims[1] == 1));
    if (strstr(implementation, "brdgmm_dw:"))
        return attempt->adds_tensor && onednn_is_one_pixel(shape);
    if (strstr(implementation, ":sse41"))
        return attempt->add_as_sum && shape->rank > 2 && !layout_is_row_major(output) && shape->dims[1] % 4 != 0;
    return false;
}

/* Names the described tactic; false if its layouts cannot be expressed, or it must not be used. */
static bool visit_described_tactic(struct visitor *visitor, struct onednn_attempt *attempt,
                                   const struct dnnl_primitive_desc *descriptor, const char *implementation,
                                   struct layout *ret_output)
{
    memset(visitor->inputs, 0, visitor->request->layer->inputs.count * sizeof(*visitor->inputs));
    if (!onednn_attempt_layouts(attempt, descriptor, visitor->inputs, ret_output) ||
        implementation_is_wrong(attempt, implementation, ret_output))
        return false;
    name_onednn_tactic(attempt, visitor->variant, implementation, visitor->inputs, ret_output, &visitor->name);
    return true;
}

static bool add_onednn_tactic(void *context, struct onednn_attempt *attempt,
                              const struct dnnl_primitive_desc *descriptor, const char *implementation)
{
    struct visitor *visitor = context;
    const struct layer *layer = visitor->request->layer;
    SCOPED_STRING(algorithm);
    struct layout output;
    struct tactic *tactic;

    if (!visit_described_tactic(visitor, attempt, descriptor, implementation, &output))
        return true;
    for (size_t i = 0; i < visitor->tactics->count; i++) {
        tactic = &visitor->tactics->items[i];
        if (tactic->provider == &visitor->self->provider && strcmp(tactic->name, visitor->name.data) == 0)
            return true;
    }
    add_implementation_name(&algorithm, visitor->variant, implementation);
    tactic = tactic_list_add(visitor->tactics, &visitor->self->provider, layer, text_of(algorithm.data),
                             text_of(visitor->name.data));
    memcpy(tactic->input_layouts, visitor->inputs, layer->inputs.count * sizeof(*tactic->input_layouts));
    tactic->output_layouts[0] = output;
    return true;
}

/* Whether the kernel expects the layouts of the tactic, which the caller uses and which may come from a file. */
static bool descriptor_has_layouts(const struct visitor *visitor, const struct layout *output)
{
    for (size_t i = 0; i < visitor->request->layer->inputs.count; i++)
        if (visitor->request->inputs[i].present && !visitor->request->inputs[i].constant &&
            !layout_equal(&visitor->wanted->input_layouts[i], &visitor->inputs[i]))
            return false;
    return layout_equal(&visitor->wanted->output_layouts[0], output);
}

static bool make_matching_kernel(void *context, struct onednn_attempt *attempt,
                                 const struct dnnl_primitive_desc *descriptor, const char *implementation)
{
    struct visitor *visitor = context;
    struct layout output;

    if (!visit_described_tactic(visitor, attempt, descriptor, implementation, &output) ||
        strcmp(visitor->name.data, visitor->wanted->name) != 0 || !descriptor_has_layouts(visitor, &output))
        return true;
    visitor->rc = onednn_kernel_new(attempt, descriptor, &visitor->kernel, visitor->err);
    return false;
}

/* ---- the provider ---- */

static int list_onednn_tactics(struct tactic_provider *provider, const struct kernel_request *request,
                               struct tactic_list *ret, struct error *err)
{
    struct onednn_provider *self = (struct onednn_provider *)provider;
    struct visitor visitor = {.self = self, .request = request, .tactics = ret};
    struct onednn_attempt attempt SCOPED(onednn_attempt_release) = {0};

    (void)err;
    onednn_use_threads(self->onednn, request->threads ? request->threads : self->threads);
    onednn_attempt_init(&attempt, self->onednn, request);
    visitor.inputs = memory_alloc_zero(request->layer->inputs.count, sizeof(*visitor.inputs));
    string_init(&visitor.name);
    visit_layout_choices(&visitor, &attempt, add_onednn_tactic);
    string_release(&visitor.name);
    free(visitor.inputs);
    return 0;
}

static int create_onednn_kernel(struct tactic_provider *provider, const struct kernel_request *request,
                                const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    struct onednn_provider *self = (struct onednn_provider *)provider;
    struct kernel_request with_threads = *request;
    struct visitor visitor = {.self = self, .request = &with_threads, .wanted = tactic, .err = err};
    struct onednn_attempt attempt SCOPED(onednn_attempt_release) = {0};

    if (with_threads.threads == 0)
        with_threads.threads = self->threads;
    onednn_use_threads(self->onednn, with_threads.threads);
    onednn_attempt_init(&attempt, self->onednn, &with_threads);
    attempt.tactic = tactic;
    visitor.inputs = memory_alloc_zero(request->layer->inputs.count, sizeof(*visitor.inputs));
    string_init(&visitor.name);
    for (size_t i = 0; i < ARRAY_LEN(operations) && !visitor.kernel && visitor.rc == 0; i++) {
        if (operations[i]->kind == request->layer->kind)
            visit_layout_variants(&visitor, &attempt, operations[i], make_matching_kernel);
    }
    /* With explicit layouts oneDNN may return another implementation than when it chooses the same layouts itself:
     * version 3 does so for transposed convolutions. So it is queried again as for the list. */
    attempt.tactic = NULL;
    if (!visitor.kernel && visitor.rc == 0)
        visit_layout_choices(&visitor, &attempt, make_matching_kernel);
    string_release(&visitor.name);
    free(visitor.inputs);
    if (visitor.rc < 0)
        return visitor.rc;
    if (!visitor.kernel)
        return error_set(err, ERR_UNSUPPORTED, "oneDNN %s has no tactic '%s' for layer '%s' with these shapes",
                         self->onednn->version_text, tactic->name, request->layer->name);
    *ret = visitor.kernel;
    return 0;
}

static void free_onednn_provider(struct tactic_provider *provider)
{
    free(provider);
}

int onednn_provider_new(int threads, struct log *log, struct tactic_provider **ret, struct error *err)
{
    const struct onednn *onednn;
    struct onednn_provider *self;
    int rc = onednn_load(&onednn, err);

    if (rc < 0)
        return rc;
    self = memory_alloc_zero(1, sizeof(*self));
    self->provider = (struct tactic_provider){.name = "onednn",
                                              .version = onednn->version_text,
                                              .list = list_onednn_tactics,
                                              .create = create_onednn_kernel,
                                              .free = free_onednn_provider};
    self->onednn = onednn;
    self->threads = threads;
    log_message(log, LOG_VERBOSE, "Using oneDNN %s", onednn->version_text);
    *ret = &self->provider;
    return 0;
}
