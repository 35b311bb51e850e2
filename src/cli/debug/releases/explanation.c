/* cli/debug/releases/explanation.c: see explanation.h. */
#include "cli/debug/releases/explanation.h"

#include <string.h>

#include "base/file/file.h"
#include "base/process/process.h"
#include "base/text/shell_line.h"
#include "format/json/reader.h"

static const char *read_text(struct json_reader *reader, struct arena *arena, const json_t *value)
{
    struct text text;

    return json_is_string(value) && json_reader_text(reader, value, &text, NULL) == 0 ? arena_text(arena, text) : NULL;
}

/* False: there is no result. */
static bool read_result(const char *path, struct arena *arena, struct explanation *ret)
{
    struct json_reader reader;
    struct error unread;
    const char *verdict;

    if (!file_exists(path) || json_reader_open(&reader, path, &unread) < 0)
        return false;
    ret->answer = read_text(&reader, arena, json_object_get(reader.root, "answer"));
    ret->fix = read_text(&reader, arena, json_array_get(json_object_get(reader.root, "fix"), 0));
    verdict = read_text(&reader, arena, json_object_get(reader.root, "verdict"));
    ret->is_cause = verdict != NULL && strcmp(verdict, "cause") == 0;
    json_reader_release(&reader);
    return ret->answer != NULL;
}

static const char *last_line(struct arena *arena, const struct process_output *output)
{
    size_t end = output->size, start;
    SCOPED_STRING(line);

    while (end > 0 && strchr("\r\n ", output->data[end - 1]) != NULL)
        end--;
    for (start = end; start > 0 && output->data[start - 1] != '\n';)
        start--;
    string_add_visible(&line, (struct text){output->data + start, end - start});
    return line.size > 0 ? arena_strdup(arena, line.data) : "no message";
}

static void add_words(const struct explanation_request *request, const char *folder, const char *result,
                      struct word_list *ret)
{
    const char *const first[] = {"polygraphy", "debug", request->tool};
    const char *const options[] = {"-o", folder, "--json", result};

    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        *VECTOR_APPEND(ret) = first[i];
    for (size_t i = 0; i < request->words->count; i++)
        *VECTOR_APPEND(ret) = request->words->items[i];
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        *VECTOR_APPEND(ret) = options[i];
    for (size_t i = 0; i < request->last.count; i++)
        *VECTOR_APPEND(ret) = request->last.items[i];
    *VECTOR_APPEND(ret) = NULL;
}

static const char *render_command(struct arena *arena, const struct explanation_request *request,
                                  const struct word_list *words)
{
    SCOPED_STRING(line);

    if (request->variable != NULL)
        shell_add_argument(&line, request->variable);
    for (size_t i = 0; words->items[i] != NULL; i++)
        shell_add_argument(&line, words->items[i]);
    return arena_strdup(arena, line.data);
}

int explanation_find(const struct explanation_request *request, struct explanation *ret, struct error *err)
{
    struct arena *arena = parse_arena((struct parse *)request->context->parse);
    const char *folder = arena_printf(arena, "%s/%s", request->folder, request->tool);
    const char *path = arena_printf(arena, "%s/%s.json", request->folder, request->tool);
    const char *const environment[] = {request->variable, NULL};
    struct word_list words SCOPED_ITEMS = {0};
    struct process_result result;
    int rc;

    *ret = (struct explanation){0};
    add_words(request, folder, path, &words);
    ret->command = render_command(arena, request, &words);
    log_message(request->context->log, LOG_INFO, "Running: %s", ret->command);
    rc = file_exists(path) ? file_remove_tree(path, err) : 0; /* an answer of an earlier run */
    if (rc < 0)
        return rc;
    rc = process_run(&(struct process_request){.arguments = words.items,
                                               .program = request->context->program,
                                               .environment = environment,
                                               .without_input = true},
                     &result, err);
    if (rc < 0)
        return rc;
    if (!read_result(path, arena, ret))
        ret->why_not = last_line(arena, &result.error_out);
    process_result_release(&result);
    return 0;
}
