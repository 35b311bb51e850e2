/* cli/debug/passes/tensorrt.c: what TensorRT decides, as far as its library can be told otherwise: knobs of its
 * compiler, and what it does across tensors.
 */
#include <string.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/shell_line.h"
#include "cli/debug/passes/barriers.h"
#include "cli/trt.h"
#include "format/tensorrt/build_knobs.h"
#include "format/tensorrt/layer_info.h"

/* Settings of a build that says nothing. `request` has to be released in any case. */
static int make_quiet_request(const struct passes_subject *subject, struct command_context *quiet,
                              struct trt_request *request, struct error *err)
{
    *quiet = *subject->context;
    quiet->log = NULL;
    return trt_request_init(request, quiet, &subject->settings->engine, &subject->settings->file, err);
}

/* ---- Build routes ---- */

#define ROUTE_PREFIX "route:"

static bool is_route(const char *decision)
{
    return strncmp(decision, ROUTE_PREFIX, sizeof(ROUTE_PREFIX) - 1) == 0;
}

static int list_knobs(struct log *log, struct build_knobs *ret, struct error *err)
{
    char *text SCOPED_FREE = NULL;
    int rc = tensorrt_ask_build_routes(log, &text, err);

    return rc == 0 ? build_knobs_parse(ret, text_of(text), err) : rc;
}

/* Knobs that have another value than the one that asks least: off, they have that. */
static int find_routes(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    struct log *log = subject->context->log;
    struct build_knobs knobs;
    struct error why;
    size_t count = 0;
    int rc = list_knobs(log, &knobs, &why);

    if (rc == ERR_UNSUPPORTED) {
        log_message(log, LOG_INFO, "Only barriers are tried, since knobs are there from TensorRT 11.1 on: %s",
                    why.message);
        return 0;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    for (size_t i = 0; i < knobs.count; i++) {
        const char *least = build_knob_least(&knobs.items[i]);

        if (least != NULL)
            decisions_add(ret, arena_printf(subject->arena, ROUTE_PREFIX "-%s=%s", knobs.items[i].name, least));
        count += least != NULL;
    }
    log_message(log, LOG_INFO, "%zu of %zu knobs of TensorRT's compiler can be turned down", count,
                knobs.count + knobs.unread);
    if (knobs.unread > 0)
        log_message(log, LOG_WARNING, "%zu knobs are not tried, because their values are not understood", knobs.unread);
    build_knobs_release(&knobs);
    return 0;
}

static void add_remedies_of_routes(struct words off, struct remedies *ret)
{
    SCOPED_STRING(option);
    SCOPED_STRING(route);

    for (size_t i = 0; i < off.count; i++) {
        const char *word = off.items[i] + sizeof(ROUTE_PREFIX) - 1;

        string_add_format(&route, "%s%s", i > 0 ? " " : "", word);
        string_add_format(&option, " %s", word + (*word == '-'));
    }
    remedies_add(ret, REMEDY_OPTION, "--build-route%s", option.data);
    remedies_add(ret, REMEDY_TRTEXEC, "--setBuildRoute='%s'", route.data);
}

static const struct decision_source route_source = {
    .name = "routes", .owns = is_route, .find = find_routes, .add_remedies = add_remedies_of_routes};

/* ---- Barriers ---- */

/* What layers of TensorRT's network give out; constants excepted. */
static void list_tensors(const struct tensorrt_network_view *view, struct name_map *ret)
{
    for (size_t i = 0; i < view->layers.count; i++) {
        const struct tensorrt_network_layer *layer = &view->layers.items[i];

        for (size_t k = 0; k < layer->outputs.count && strcmp(layer->type, "CONSTANT") != 0; k++)
            name_map_add(ret, text_of(layer->outputs.items[k].name), (uint32_t)i);
    }
}

/* Removes barriers behind the first `count` decisions that are no tensors of the network. */
static void leave_out_missing(const struct name_map *tensors, size_t count, struct log *log, struct decisions *ret)
{
    struct word_list *names = &ret->names;
    size_t kept = count, all = names->count;

    for (size_t i = count; i < all; i++)
        if (name_map_find(tensors, text_of(names->items[i] + sizeof(BARRIER_PREFIX) - 1)) != NAME_MAP_NONE)
            names->items[kept++] = names->items[i];
    names->count = kept;
    if (kept < all)
        log_message(log, LOG_INFO,
                    "%zu of %zu tensors inside of the model are not in TensorRT's network, and are not tried as "
                    "barriers",
                    all - kept, all - count);
}

/* Tensors of the model that are in TensorRT's network, too. Its parser leaves some out. */
static int find_network_barriers(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    struct backend_model source = {.path = subject->model};
    struct tensorrt_network_view view = {0};
    struct trt_request request = {0};
    size_t count = ret->names.count;
    struct command_context quiet;
    SCOPED_NAME_MAP(tensors);
    int rc = barriers_find(subject, ret, err);

    if (rc == 0)
        rc = make_quiet_request(subject, &quiet, &request, err);
    if (rc == 0)
        rc = tensorrt_view_network(&request.request.settings, &source, subject->arena, &view, err);
    trt_request_release(&request);
    if (rc < 0)
        return rc;
    list_tensors(&view, &tensors);
    leave_out_missing(&tensors, count, subject->context->log, ret);
    return 0;
}

static void add_remedies_of_barriers(struct words off, struct remedies *ret)
{
    SCOPED_STRING(list);
    SCOPED_STRING(option);

    barriers_add_option("--trt-outputs", off, ret);
    for (size_t i = 0; i < off.count; i++)
        string_add_format(&list, "%s%s", i > 0 ? "," : "--markDebug=", off.items[i] + sizeof(BARRIER_PREFIX) - 1);
    shell_add_argument(&option, list.data);
    remedies_add(ret, REMEDY_TRTEXEC, "%s (from TensorRT 10.0 on)", option.data);
}

static const struct decision_source barrier_source = {
    .name = "barriers", .owns = barriers_own, .find = find_network_barriers, .add_remedies = add_remedies_of_barriers};

/* ---- Before and after ---- */

/* Knobs of the command line, and those that are off. */
static struct words add_routes(struct arena *arena, struct words given, struct words off)
{
    const char **items = arena_alloc_zero(arena, given.count + off.count + 1, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < given.count; i++)
        items[count++] = given.items[i];
    for (size_t i = 0; i < off.count; i++)
        if (is_route(off.items[i]))
            items[count++] = off.items[i] + sizeof(ROUTE_PREFIX) - 1;
    return (struct words){.items = items, .count = count};
}

static int build_layers(const struct passes_subject *subject, struct words off, struct layer_info *ret,
                        struct error *err)
{
    struct backend_model source = {.path = subject->model};
    struct tensorrt_products products = {0};
    struct trt_request request SCOPED(trt_request_release) = {0};
    struct tensorrt_settings *settings = &request.request.settings;
    struct command_context quiet;
    int rc = make_quiet_request(subject, &quiet, &request, err);

    if (rc < 0)
        return rc;
    settings->barriers = barriers_of(subject->arena, off);
    settings->build_route = add_routes(subject->arena, settings->build_route, off);
    rc = tensorrt_build(settings, &source, true, &products, err);
    if (rc == 0 && products.layers.size == 0)
        rc = error_set(err, ERR_BACKEND, "TensorRT reports no layers: %s", products.no_layers);
    if (rc == 0)
        rc = layer_info_parse(ret, products.layers.data, products.layers.size, "TensorRT's layer information", err);
    tensorrt_products_release(&products);
    return rc;
}

/* Layers of the first that the second has not. */
static void list_others(const struct layer_info *of, const struct layer_info *other, struct arena *texts,
                        struct rewritten_list *ret)
{
    SCOPED_NAME_MAP(names);

    for (size_t i = 0; i < other->layers.count; i++)
        name_map_add(&names, text_of(other->layers.items[i].name), (uint32_t)i);
    VECTOR_EACH (const struct layer_info_layer, layer, of->layers) {
        if (name_map_find(&names, text_of(layer->name)) != NAME_MAP_NONE)
            continue;
        VECTOR_APPEND(ret);
        ret->items[ret->count - 1].name = arena_strdup(texts, layer->name);
        ret->items[ret->count - 1].op_type = arena_strdup(texts, layer->type != NULL ? layer->type : "layer");
    }
}

/* By two builds more. What makes no other layers may act within kernels, or not at all. */
static int compare_layers(const struct passes_subject *subject, struct words off, const char *folder,
                          struct rewriting *ret, struct error *err)
{
    struct layer_info with SCOPED(layer_info_release) = {0}, without SCOPED(layer_info_release) = {0};
    int rc = build_layers(subject, (struct words){0}, &with, err);

    (void)folder;
    if (rc == 0)
        rc = build_layers(subject, off, &without, err);
    if (rc < 0)
        return rc;
    ret->is_known = true;
    arena_init(&ret->nodes.arena);
    list_others(&without, &with, &ret->nodes.arena, &ret->nodes.before);
    list_others(&with, &without, &ret->nodes.arena, &ret->nodes.after);
    ret->kernels = (struct other_kernels){.evidence = KERNELS_NOT_RULED_OUT,
                                          .why_not = "which tactics TensorRT takes is not held fixed"};
    if (ret->nodes.before.count + ret->nodes.after.count == 0)
        log_message(subject->context->log, LOG_WARNING,
                    "Engines with it and without have the same layers: it acts within kernels, or TensorRT has "
                    "decided otherwise and builds differ by themselves (--flaky tells)");
    return rc;
}

/* ---- The runner ---- */

static const struct option_group *const groups[] = {&engine_config_options, &engine_network_options, &tensorrt_options,
                                                    NULL};
static const struct decision_source *const sources[] = {&route_source, &barrier_source, NULL};

const struct passes_runner tensorrt_passes_runner = {
    .name = "TensorRT",
    .option = "--trt",
    .groups = groups,
    .sources = sources,
    .compare = compare_layers,
};
