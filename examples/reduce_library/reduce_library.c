/* Two reductions with an oracle of our own; README.md shows what they print.
 *
 *   cc -o reduce_library reduce_library.c $(pkg-config --cflags --libs polygraphy)
 *   ./reduce_library ../overflow/detector.onnx smallest.onnx
 */
#include <inttypes.h>
#include <polygraphy/reduce.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *text_of_outcome(int32_t outcome)
{
    static const char *const texts[] = {"1-minimal", "out of checks", "stopped", "does not fail"};

    return texts[outcome];
}

/* ---- A graph: the passes of a compiler. Which of them does it take for wrong code? ---- */

static const char *const passes[] = {"parse", "resolve", "infer",  "inline", "fold",  "hoist",
                                     "fuse",  "tile",    "unroll", "pack",   "color", "emit"};

/* What comes out is wrong when `inline` and `fuse` have both run. Without `parse` there is nothing to run at all. */
static int32_t compile_with(void *context, const uint32_t *elements, size_t count,
                            const struct polygraphy_progress *progress)
{
    bool ran[COUNT(passes)] = {false};

    (void)context;
    printf("  check %2" PRIu64 ":", progress->check);
    for (size_t i = 0; i < count; i++) {
        ran[elements[i]] = true;
        printf(" %s", passes[elements[i]]);
    }
    printf("\n");
    if (!ran[0])
        return POLYGRAPHY_UNTESTABLE;
    return ran[3] && ran[6] ? POLYGRAPHY_FAILS : POLYGRAPHY_PASSES;
}

static int reduce_passes(void)
{
    struct polygraphy_edge edges[COUNT(passes) - 1]; /* one after the other */
    struct polygraphy_graph_request request = {
        .element_count = COUNT(passes), .edges = edges, .edge_count = COUNT(edges), .oracle = compile_with};
    struct polygraphy_graph_result result;
    struct polygraphy_error error;
    int32_t rc;

    for (uint32_t i = 0; i < COUNT(edges); i++)
        edges[i] = (struct polygraphy_edge){i, i + 1};
    printf("Which passes does it take?\n");
    rc = polygraphy_reduce_graph(&request, &result, &error);
    if (rc < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("%s after %" PRIu64 " checks:", text_of_outcome(result.outcome), result.checks);
        for (size_t i = 0; i < result.element_count; i++)
            printf(" %s", passes[result.elements[i]]);
        printf("\n");
    }
    polygraphy_graph_result_release(&result);
    return rc;
}

/* ---- A model: an importer that cannot cope with a Div and a Gemm in one file ---- */

static char *read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *ret_size = (size_t)size;
        bytes = malloc(*ret_size + 1);
        if (bytes != NULL && fread(bytes, 1, *ret_size, file) != *ret_size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

/* Whether a node has this operator: in the file that is the byte 0x22, the length of the name, and the name. */
static bool has_operator(const char *bytes, size_t size, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i + length + 2 <= size; i++)
        if (bytes[i] == 0x22 && (size_t)bytes[i + 1] == length && memcmp(&bytes[i + 2], name, length) == 0)
            return true;
    return false;
}

/* A real oracle would hand the file to the compiler that is already loaded. */
static int32_t import_model(void *context, const struct polygraphy_candidate *candidate)
{
    size_t size;
    char *bytes = read_file(candidate->path, &size);
    bool fails;

    (void)context;
    if (bytes == NULL)
        return POLYGRAPHY_STOP;
    fails = has_operator(bytes, size, "Div") && has_operator(bytes, size, "Gemm");
    free(bytes);
    printf("  check %2" PRIu64 ": %2zu node(s) %s\n", candidate->progress.check, candidate->node_count,
           fails ? "fail" : "pass");
    return fails ? POLYGRAPHY_FAILS : POLYGRAPHY_PASSES;
}

static void show_warning(void *context, int32_t level, const char *message)
{
    (void)context;
    if (level >= 30)
        fprintf(stderr, "%s\n", message);
}

static void show_nodes(const struct polygraphy_model_result *result, const char *output)
{
    printf("%s after %" PRIu64 " checks: %zu of %zu nodes\n", text_of_outcome(result->outcome), result->checks,
           result->node_count, result->original_node_count);
    for (size_t i = 0; i < result->node_count; i++)
        printf("  '%s' (%s)\n", result->nodes[i].name, result->nodes[i].op_type);
    if (result->written)
        printf("They are a model of their own: %s\n", output);
}

static int reduce_model(const char *model, const char *output)
{
    struct polygraphy_model_request request = {
        .model = model, .output = output, .oracle = import_model, .log = show_warning};
    struct polygraphy_model_result result;
    struct polygraphy_error error;
    int32_t rc;

    printf("Which nodes does it take?\n");
    rc = polygraphy_reduce_model(&request, &result, &error);
    if (rc < 0)
        fprintf(stderr, "%s\n", error.message);
    else
        show_nodes(&result, output);
    polygraphy_model_result_release(&result);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL OUTPUT\n", argv[0]);
        return 2;
    }
    return reduce_passes() < 0 || reduce_model(argv[1], argv[2]) < 0;
}
