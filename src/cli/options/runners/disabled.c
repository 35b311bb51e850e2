/* cli/options/runners/disabled.c: see disabled.h. */
#include "cli/options/runners/disabled.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "debug/check/words.h"
#include "onnx/model/mark_outputs.h"

bool disabled_name_has_kind(const char *name)
{
    size_t length;

    name += *name == NAME_MAY_MISS;
    length = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    return length > 0 && name[length] == ':';
}

/* The name without its kind, or NULL if it is of another kind. */
static const char *name_without_kind(struct arena *arena, const char *name, const char *kind)
{
    bool may_miss = *name == NAME_MAY_MISS;
    const char *whole = name + may_miss;
    size_t length;

    if (kind == NULL)
        return *name != '\0' && !disabled_name_has_kind(name) ? name : NULL;
    length = strlen(kind);
    if (strncmp(whole, kind, length) != 0 || whole[length] != ':')
        return NULL;
    whole += length + 1;
    return may_miss ? arena_printf(arena, "%c%s", NAME_MAY_MISS, whole) : whole;
}

static struct words copy_words(struct arena *arena, const struct word_list *names)
{
    const char **items = arena_alloc_zero(arena, names->count + 1, sizeof(*items));

    for (size_t i = 0; i < names->count; i++)
        items[i] = names->items[i];
    return (struct words){.items = items, .count = names->count};
}

static void split_list(struct arena *arena, const char *list, const char *separator, struct word_list *ret)
{
    while (*list != '\0') {
        size_t size = strcspn(list, separator);

        if (size > 0)
            *VECTOR_APPEND(ret) = arena_text(arena, (struct text){list, size});
        list += size + (list[size] != '\0');
    }
}

/* Lists all names in the environment. The caller frees `ret`; the names belong to the parse. */
static int read_disabled_variable(struct parse *parse, struct word_list *ret, struct error *err)
{
    const char *list = getenv(CHECK_DISABLED_VARIABLE);
    char *content SCOPED_FREE = NULL;
    size_t size;
    int rc;

    *ret = (struct word_list){0};
    if (list == NULL || *list != '@') {
        split_list(parse_arena(parse), list != NULL ? list : "", ";", ret);
        return 0;
    }
    rc = file_read(list + 1, CHECK_LONGEST_LIST, &content, &size, err);
    if (rc < 0)
        return error_context(err, CHECK_DISABLED_VARIABLE);
    split_list(parse_arena(parse), content, "\n", ret);
    return 0;
}

int disabled_names_read(struct parse *parse, const char *kind, struct words *ret, struct error *err)
{
    struct word_list all SCOPED_ITEMS = {0};
    struct word_list names SCOPED_ITEMS = {0};
    int rc = read_disabled_variable(parse, &all, err);

    *ret = (struct words){0};
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < all.count; i++) {
        const char *name = name_without_kind(parse_arena(parse), all.items[i], kind);

        if (name != NULL)
            *VECTOR_APPEND(&names) = name;
    }
    *ret = copy_words(parse_arena(parse), &names);
    return 0;
}

static bool is_known_decision(struct arena *arena, const char *name)
{
    static const char *const kinds[] = {NULL,      "fusion",     "folding", "layout",
                                        "tactics", BARRIER_KIND, "route",   ASSIGNMENT_KIND};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (name_without_kind(arena, name, kinds[i]) != NULL)
            return true;
    return false;
}

int disabled_names_doubt(struct parse *parse, struct error *err)
{
    struct word_list all SCOPED_ITEMS = {0};
    int rc = read_disabled_variable(parse, &all, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < all.count; i++)
        if (!is_known_decision(parse_arena(parse), all.items[i])) {
            log_message(parse_log(parse), LOG_WARNING,
                        CHECK_DISABLED_VARIABLE
                        ": '%s' is of a kind that no runner of this program supports; it is ignored",
                        all.items[i]);
            break;
        }
    return 0;
}
