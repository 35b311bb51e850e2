/* backend/onnxrt/placement.c: see placement.h. */
#include "backend/onnxrt/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"

#define MOST_NAMES 5 /* of nodes in a message */

static struct placed_nodes *find_placed_nodes(struct onnxrt_placement *placement, struct text provider)
{
    struct placed_nodes *ret;

    for (size_t i = 0; i < placement->providers.count; i++)
        if (text_equal_string(provider, placement->providers.items[i].provider))
            return &placement->providers.items[i];
    ret = VECTOR_APPEND(&placement->providers);
    *ret = (struct placed_nodes){arena_text(&placement->arena, provider), 0};
    return ret;
}

/* ---- From the log ---- */

/* A node's line has two blanks in front, whatever the node is called. The provider whose nodes are being listed is the
 * last one. */
void onnxrt_placement_read(struct onnxrt_placement *placement, const char *message)
{
    const char *name = strchr(message, '['), *end = strrchr(message, ']');
    unsigned long nodes;

    placement->is_listed = placement->is_listed && text_begins_with(text_of(message), "  ");
    if (text_begins_with(text_of(message), "  MemcpyFromHost (") ||
        text_begins_with(text_of(message), "  MemcpyToHost (")) {
        struct placed_nodes *last =
            placement->providers.count > 0 ? &placement->providers.items[placement->providers.count - 1] : NULL;

        if (last != NULL && last->count > 0)
            last->count--;
    } else if ((text_begins_with(text_of(message), " All nodes placed on [") ||
                text_begins_with(text_of(message), " Node(s) placed on [")) &&
               end != NULL && end > name && sscanf(end, "]. Number of nodes: %9lu", &nodes) == 1) {
        struct placed_nodes *placed = find_placed_nodes(placement, (struct text){name + 1, (size_t)(end - name - 1)});

        placed->count += nodes;
        placement->is_listed = strcmp(placed->provider, placement->wanted) != 0;
    } else if (placement->is_listed) {
        *VECTOR_APPEND(&placement->elsewhere) = arena_strdup(&placement->arena, message + strlen("  "));
    }
}

/* ---- Log lines ---- */

/* Others make one node of all that they take of a model. */
static bool has_a_kernel_for_each_node(const char *provider)
{
    static const char *const providers[] = {"CUDAExecutionProvider", "ROCMExecutionProvider", "WebGpuExecutionProvider",
                                            "CPUExecutionProvider"};

    return text_is_one_of(text_of(provider), providers, ARRAY_LEN(providers));
}

static void add_elsewhere_nodes(const struct onnxrt_placement *placement, struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = MOST_NAMES};

    if (placement->elsewhere.count > 0)
        string_add(ret, ": ");
    for (size_t i = 0; i < placement->elsewhere.count; i++)
        if (short_list_next(&list))
            string_add(ret, placement->elsewhere.items[i]);
    short_list_end(&list);
}

bool onnxrt_placement_to_text(const struct onnxrt_placement *placement, struct string_builder *ret)
{
    size_t total = 0, elsewhere = 0, others = 0, listed = 0;
    bool counts_parts = !has_a_kernel_for_each_node(placement->wanted);

    VECTOR_EACH (const struct placed_nodes, placed, placement->providers) {
        bool is_other = placed->count > 0 && strcmp(placed->provider, placement->wanted) != 0;

        total += placed->count;
        elsewhere += is_other ? placed->count : 0;
        others += is_other;
        counts_parts = counts_parts || !has_a_kernel_for_each_node(placed->provider);
    }
    if (elsewhere == 0)
        return false;
    string_add_format(ret, "%zu of %zu nodes run on ", elsewhere, total);
    VECTOR_EACH (const struct placed_nodes, placed, placement->providers) {
        if (placed->count == 0 || strcmp(placed->provider, placement->wanted) == 0)
            continue;
        if (listed++ > 0)
            string_add(ret, listed == others ? " and " : ", ");
        string_add(ret, placed->provider);
        if (others > 1)
            string_add_format(ret, " (%zu)", placed->count);
    }
    string_add(ret, " instead");
    if (counts_parts)
        string_add(ret, " (a part of the model that a provider has compiled counts as one node)");
    add_elsewhere_nodes(placement, ret);
    return true;
}

int onnxrt_placement_begin(struct onnxrt_placement *placement, const struct onnxrt_providers *providers,
                           struct ort_session_options *options, struct error *err)
{
    const struct onnxrt *ort = providers->ort;
    const char *wanted = onnxrt_providers_preferred(providers);

    *placement = (struct onnxrt_placement){0};
    if (wanted == NULL)
        return 0;
    arena_init(&placement->arena);
    placement->wanted = arena_strdup(&placement->arena, wanted);
    return onnxrt_check(ort, ort->api->set_session_log_severity(options, ORT_SEVERITY_VERBOSE), err,
                        "ONNX Runtime does not tell which provider runs which nodes");
}

void onnxrt_placement_end(struct onnxrt_placement *placement, struct log *log)
{
    SCOPED_STRING(text);

    if (placement->wanted == NULL)
        return;
    if (placement->providers.count == 0)
        log_message(log, LOG_VERBOSE, "%s: which nodes it runs is not known", placement->wanted);
    else if (onnxrt_placement_to_text(placement, &text))
        log_once(log, LOG_WARNING, "%s: %s", placement->wanted, text.data);
    free(placement->providers.items);
    free(placement->elsewhere.items);
    arena_release(&placement->arena);
}
