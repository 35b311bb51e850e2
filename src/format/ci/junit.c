/* format/ci/junit.c: see junit.h. */
#include "format/ci/junit.h"

#include <math.h>
#include <stdlib.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/xml.h"

struct junit {
    char *name, *group;
    struct string_builder properties, cases; /* elements */
    struct string_builder lines;
    struct name_map names;            /* names of cases and their numbers of uses */
    struct arena arena;               /* owns these names */
    size_t counts[JUNIT_SKIPPED + 1]; /* by outcome */
};

struct junit *junit_new(const char *name, const char *group)
{
    struct junit *junit = memory_alloc_zero(1, sizeof(*junit));

    junit->name = memory_strdup(name);
    junit->group = memory_strdup(group);
    string_init(&junit->properties);
    string_init(&junit->cases);
    string_init(&junit->lines);
    name_map_init(&junit->names);
    arena_init(&junit->arena);
    return junit;
}

void junit_free(struct junit *junit)
{
    if (junit == NULL)
        return;
    free(junit->name);
    free(junit->group);
    string_release(&junit->properties);
    string_release(&junit->cases);
    string_release(&junit->lines);
    name_map_release(&junit->names);
    arena_release(&junit->arena);
    free(junit);
}

/* ---- Adding ---- */

void junit_add_property(struct junit *junit, const char *name, const char *value)
{
    if (junit == NULL)
        return;
    string_add(&junit->properties, "      <property");
    xml_add_attribute(&junit->properties, "name", text_of(name));
    xml_add_attribute(&junit->properties, "value", text_of(value));
    string_add(&junit->properties, "/>\n");
}

static void add_element(struct string_builder *out, const char *indent, const char *name, struct text content)
{
    if (content.size == 0)
        return;
    string_add_format(out, "%s<%s>", indent, name);
    xml_add_content(out, content);
    string_add_format(out, "</%s>\n", name);
}

/* Makes a name unique by a number. Results with equal runner names give equal case names, of which readers would keep
 * only the last. */
static const char *unlike_others(struct junit *junit, const char *name)
{
    const char *first = arena_text(&junit->arena, text_of(name)), *ret;
    uint32_t number = name_map_find(&junit->names, text_of(first));

    if (number == NAME_MAP_NONE) {
        name_map_add(&junit->names, text_of(first), 1);
        return first;
    }
    do
        ret = arena_printf(&junit->arena, "%s (%u)", first, ++number);
    while (name_map_find(&junit->names, text_of(ret)) != NAME_MAP_NONE);
    name_map_set(&junit->names, text_of(first), number);
    name_map_add(&junit->names, text_of(ret), 1);
    return ret;
}

void junit_add_case(struct junit *junit, const struct junit_case *item)
{
    static const char *const elements[] = {
        [JUNIT_FAILED] = "failure", [JUNIT_ERROR] = "error", [JUNIT_SKIPPED] = "skipped"};
    const char *element = elements[item->outcome];
    struct string_builder *out;

    if (junit == NULL)
        return;
    junit->counts[item->outcome]++;
    out = &junit->cases;
    string_add(out, "    <testcase");
    xml_add_attribute(out, "classname", text_of(junit->group));
    xml_add_attribute(out, "name", text_of(unlike_others(junit, item->name)));
    if (!isnan(item->seconds))
        string_add_format(out, " time=\"%.3f\"", item->seconds);
    if (element == NULL && item->details.size == 0) {
        string_add(out, "/>\n");
        return;
    }
    string_add(out, ">\n");
    if (element != NULL) {
        string_add_format(out, "      <%s", element);
        xml_add_attribute(out, "message", text_of(item->message));
        string_add(out, item->details.size > 0 ? ">" : "/>\n");
    }
    if (element == NULL) {
        add_element(out, "      ", "system-out", item->details);
    } else if (item->details.size > 0) {
        xml_add_content(out, item->details);
        string_add_format(out, "</%s>\n", element);
    }
    string_add(out, "    </testcase>\n");
}

void junit_add_line(struct junit *junit, const char *format, ...)
{
    va_list args;

    if (junit == NULL)
        return;
    va_start(args, format);
    string_add_format_list(&junit->lines, format, args);
    va_end(args);
    string_add_char(&junit->lines, '\n');
}

size_t junit_count_bad(const struct junit *junit)
{
    return junit != NULL ? junit->counts[JUNIT_FAILED] + junit->counts[JUNIT_ERROR] : 0;
}

size_t junit_count(const struct junit *junit)
{
    return junit != NULL ? junit_count_bad(junit) + junit->counts[JUNIT_PASSED] + junit->counts[JUNIT_SKIPPED] : 0;
}

/* ---- The file ---- */

static void add_counts(const struct junit *junit, double seconds, struct string_builder *out)
{
    string_add_format(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\"", junit_count(junit),
                      junit->counts[JUNIT_FAILED], junit->counts[JUNIT_ERROR], seconds);
}

int junit_save(const struct junit *junit, const char *path, double seconds, struct error *err)
{
    SCOPED_STRING(out);
    int rc;

    if (junit == NULL)
        return 0;
    string_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    add_counts(junit, seconds, &out);
    string_add(&out, ">\n  <testsuite");
    xml_add_attribute(&out, "name", text_of(junit->name));
    add_counts(junit, seconds, &out);
    string_add_format(&out, " skipped=\"%zu\">\n", junit->counts[JUNIT_SKIPPED]);
    if (junit->properties.size > 0)
        string_add_format(&out, "    <properties>\n%s    </properties>\n", junit->properties.data);
    string_add_text(&out, (struct text){junit->cases.data, junit->cases.size});
    add_element(&out, "    ", "system-out", (struct text){junit->lines.data, junit->lines.size});
    string_add(&out, "  </testsuite>\n</testsuites>\n");
    rc = file_write(path, out.data, out.size, FILE_DURABLE, err);
    return rc < 0 ? error_context(err, "--junit") : 0;
}
