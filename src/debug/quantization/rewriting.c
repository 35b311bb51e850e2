/* debug/quantization/rewriting.c: see rewriting.h. */
#include "debug/quantization/rewriting.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "onnx/model/subgraph.h"
#include "onnx/quantizer/integer_operators.h"

static bool is_layer(const struct node *node)
{
    static const char *const names[] = {"Conv",      "FusedConv", "ConvTranspose", "Gemm",
                                        "FusedGemm", "MatMul",    "FusedMatMul"};

    return text_is_one_of(node->op_type, names, ARRAY_LEN(names));
}

static bool same_scales(const struct quantizer *a, const struct quantizer *b)
{
    return a->scale.data != NULL && b->scale.data != NULL && a->scale.size == b->scale.size &&
           memcmp(a->scale.data, b->scale.data, a->scale.size) == 0;
}

static struct text integers_of(const struct model *model, const struct quantizer *quantizer)
{
    return model->values.items[quantizer->integers].name;
}

struct rewriting_search {
    const struct quantization_subject *subject;
    struct model *rewritten;
    struct quantizers quantizers; /* quantizers of the rewritten model */
};

/* Whether a quantizer of the rewritten model may be that of the original. */
static bool is_same(const struct rewriting_search *looking, size_t original, const struct quantizer *rewritten)
{
    const struct quantizer *quantizer = &looking->subject->quantizers.items[original];

    return text_equal(integers_of(looking->subject->model, quantizer), integers_of(looking->rewritten, rewritten)) ||
           same_scales(quantizer, rewritten);
}

/* The quantizer of the rewritten model that dequantizes a value; SIZE_MAX: none. */
static size_t dequantized_by(const struct rewriting_search *looking, uint32_t value)
{
    uint32_t producer = value != VALUE_NONE ? looking->rewritten->values.items[value].producer : NODE_NONE;

    for (size_t i = 0; producer != NODE_NONE && i < looking->quantizers.count; i++)
        if (value_list_has(&looking->quantizers.items[i].dequantize, producer))
            return i;
    return SIZE_MAX;
}

static void note_dequantized(const struct rewriting_search *looking, const struct quantizer *quantizer,
                             struct quantization_rewriting *ret)
{
    size_t only = SIZE_MAX, count = 0;

    for (size_t i = 0; i < looking->subject->quantizers.count; i++) {
        const struct quantizer *original = &looking->subject->quantizers.items[i];

        if (text_equal(integers_of(looking->subject->model, original), integers_of(looking->rewritten, quantizer))) {
            bitset_add(&ret->dequantized, i);
            return;
        }
        if (same_scales(original, quantizer)) {
            only = i;
            count++;
        }
    }
    if (count == 1)
        bitset_add(&ret->dequantized, only);
}

static void look_at_node(const struct rewriting_search *looking, uint32_t index, struct quantization_rewriting *ret)
{
    const struct node *node = &looking->rewritten->nodes.items[index];
    bool in_float = false;

    ret->integer_kernels += node_is_on_integers(node);
    for (size_t i = 0; is_layer(node) && i < node->inputs.count; i++) {
        size_t quantizer = dequantized_by(looking, model_edge(looking->rewritten, node->inputs, i));

        if (quantizer == SIZE_MAX)
            continue;
        note_dequantized(looking, &looking->quantizers.items[quantizer], ret);
        in_float = true;
    }
    if (in_float)
        *VECTOR_APPEND(&ret->in_float) = arena_strdup(&ret->arena, model_node_label(looking->rewritten, index));
}

/* Quantizers that cannot be compared do not count as removed. */
static bool is_gone(const struct rewriting_search *looking, size_t index)
{
    const struct quantizer *quantizer = &looking->subject->quantizers.items[index];

    if (quantizer->form != QUANTIZER_PAIR || quantizer->problem != NULL || quantizer->scale.data == NULL)
        return false;
    for (size_t i = 0; i < looking->quantizers.count; i++)
        if (is_same(looking, index, &looking->quantizers.items[i]))
            return false;
    return true;
}

void quantization_rewriting_find(const struct quantization_subject *subject, struct model *rewritten,
                                 struct quantization_rewriting *ret)
{
    struct rewriting_search looking = {.subject = subject, .rewritten = rewritten};

    *ret = (struct quantization_rewriting){.known = true};
    arena_init(&ret->arena);
    bitset_init(&ret->dequantized, subject->quantizers.count);
    bitset_init(&ret->gone, subject->quantizers.count);
    quantizers_find(rewritten, NULL, &looking.quantizers);
    for (uint32_t i = 0; i < rewritten->nodes.count; i++)
        look_at_node(&looking, i, ret);
    for (size_t i = 0; i < subject->quantizers.count; i++)
        if (is_gone(&looking, i))
            bitset_add(&ret->gone, i);
    quantizers_release(&looking.quantizers);
}

void quantization_rewriting_read(const struct quantization_study *study, struct quantization_rewriting *ret)
{
    struct onnxrt_settings settings = *onnxrt_settings_of(&study->request);
    struct backend_request request = study->request;
    struct backend_session *session = NULL;
    struct model *rewritten = NULL;
    char *folder = NULL, *path = NULL;
    struct error err = {0};
    int rc = file_make_temporary_folder("quantization", &folder, &err);

    *ret = (struct quantization_rewriting){0};
    if (rc < 0)
        goto done;
    settings.optimized_path = path = file_join(folder, "rewritten.onnx");
    request.settings = &settings;
    request.log = NULL;
    rc = study->backend->open(&request, &session, &err);
    if (rc < 0)
        goto done;
    study->backend->close(session);
    rc = model_open(path, NULL, &rewritten, &err);
    if (rc == 0)
        quantization_rewriting_find(study->subject, rewritten, ret);
done:
    if (rc < 0)
        log_message(study->log, bounded_process_is_end(&err) ? LOG_WARNING : LOG_VERBOSE,
                    "Cannot find out how the runtime rewrites the quantizers: %s", err.message);
    model_free(rewritten);
    if (folder != NULL)
        file_remove_tree(folder, NULL);
    free(folder);
    free(path);
}

void quantization_rewriting_release(struct quantization_rewriting *rewriting)
{
    if (!rewriting->known)
        return;
    free(rewriting->in_float.items);
    bitset_release(&rewriting->dequantized);
    bitset_release(&rewriting->gone);
    arena_release(&rewriting->arena);
    *rewriting = (struct quantization_rewriting){0};
}
