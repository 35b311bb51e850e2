/* debug/check/patterns.c: compiling and searching with PCRE2. */
#include "debug/check/patterns.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/text.h"

/* How much memory one search may take for backtracking: in compiled patterns (bytes) and in interpreted ones (KiB). */
#define JIT_STACK_START ((size_t)32 << 10)
#define JIT_STACK_LIMIT ((size_t)16 << 20)
#define HEAP_LIMIT_KIB ((uint32_t)256 << 10)

/* Upper bound for lookbehind, in bytes. */
#define LOOK_BACK ((size_t)256 << 10)

struct check_patterns {
    const char *const *texts;
    pcre2_code **codes;
    size_t count;
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

/* PCRE2 allocates with these functions, so that out of memory is handled as in all bookkeeping. */
static void *pattern_alloc(size_t size, void *data)
{
    (void)data;
    return memory_alloc(size);
}

static void pattern_free(void *pointer, void *data)
{
    (void)data;
    free(pointer);
}

static int compile_pattern(struct check_patterns *patterns, const char *text, pcre2_compile_context *context,
                           struct error *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
    int problem;
    PCRE2_SIZE position;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &problem, &position, context);

    if (!code) {
        char reason[256];
        pcre2_get_error_message(problem, (PCRE2_UCHAR *)reason, sizeof(reason));
        return error_set(err, ERR_INVALID, "--fail-regex '%s': %s (at position %zu)", text, reason, position);
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE |
                                PCRE2_JIT_PARTIAL_HARD); /* where it is not available, patterns are interpreted */
    patterns->codes[patterns->count++] = code;
    return 0;
}

int check_patterns_new(const char *const *texts, size_t count, struct check_patterns **ret, struct error *err)
{
    pcre2_general_context *general = pcre2_general_context_create(pattern_alloc, pattern_free, NULL);
    pcre2_compile_context *context = pcre2_compile_context_create(general);
    struct check_patterns *patterns = memory_alloc_zero(1, sizeof(*patterns));
    int rc = 0;

    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    patterns->texts = texts;
    patterns->codes = memory_alloc_zero(count, sizeof(pcre2_code *));
    patterns->match = pcre2_match_data_create(1, general);
    patterns->context = pcre2_match_context_create(general);
    pcre2_set_heap_limit(patterns->context, HEAP_LIMIT_KIB);
    patterns->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_LIMIT, general);
    if (patterns->stack)
        pcre2_jit_stack_assign(patterns->context, NULL, patterns->stack);

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = compile_pattern(patterns, texts[i], context, err);

    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    if (rc < 0) {
        check_patterns_free(patterns);
        return rc;
    }
    *ret = patterns;
    return 0;
}

void check_patterns_free(struct check_patterns *patterns)
{
    if (!patterns)
        return;
    for (size_t i = 0; i < patterns->count; i++)
        pcre2_code_free(patterns->codes[i]);
    pcre2_match_data_free(patterns->match);
    pcre2_match_context_free(patterns->context);
    pcre2_jit_stack_free(patterns->stack);
    free(patterns->codes);
    free(patterns);
}

/* A text in which matches begin at or after `start`. */
struct part {
    struct text text;
    size_t start;
    uint32_t options; /* of PCRE2 */
};

static int search_text(const struct check_patterns *patterns, size_t count, const struct part *part, size_t *ret,
                       struct error *err)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)(part->text.data != NULL ? part->text.data : "");

    for (size_t i = 0; i < count; i++) {
        int rc = pcre2_match(patterns->codes[i], subject, part->text.size, part->start, part->options, patterns->match,
                             patterns->context);
        if (rc >= 0) {
            *ret = i;
            return 0;
        }
        if (rc != PCRE2_ERROR_NOMATCH && rc != PCRE2_ERROR_PARTIAL) {
            char reason[256];
            pcre2_get_error_message(rc, (PCRE2_UCHAR *)reason, sizeof(reason));
            return error_set(err, ERR_UNSUPPORTED,
                             "--fail-regex '%s': gave up searching the check's output (%s); simplify the pattern",
                             patterns->texts[i], reason);
        }
    }
    *ret = count;
    return 0;
}

/* Where matches may begin after a missing part: from the next line on, so that neither '^' nor lookbehind treats the
 * first byte as the beginning of the text. In very long lines it is some bytes later, at the beginning of a character.
 * */
static size_t sure_start(struct text text)
{
    size_t reach = text.size < LOOK_BACK ? text.size : LOOK_BACK;
    const char *line_feed = reach > 0 ? memchr(text.data, '\n', reach) : NULL;
    size_t start = line_feed != NULL ? (size_t)(line_feed - text.data) + 1 : reach;

    while (start < text.size && ((unsigned char)text.data[start] & 0xC0) == 0x80)
        start++;
    return start;
}

int check_patterns_search(const struct check_patterns *patterns, size_t count, const struct process_output *output,
                          size_t *ret, struct error *err)
{
    const struct text tail = {output->data + output->tail, output->size - output->tail};
    /* A match that depends on the text after the head is not found. */
    struct part first = {.text = {output->data, output->head}, .options = PCRE2_PARTIAL_HARD};
    int rc;

    if (output->left_out == 0)
        first = (struct part){.text = {output->data, output->size}};
    rc = search_text(patterns, count, &first, ret, err);
    if (rc < 0 || output->left_out == 0)
        return rc;
    return search_text(patterns, *ret, &(struct part){.text = tail, .start = sure_start(tail)}, ret, err);
}
