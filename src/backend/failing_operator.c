/* backend/failing_operator.c: see failing_operator.h. */
#include "backend/failing_operator.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* What stands in front of the name, and behind it. The first that is found counts: the last one is the most general. */
static const struct {
    const char *before, *behind;
} forms[] = {
    {"while running ", " node"},
    {"Could not find an implementation for ", "("},
    {"No Op registered for ", " with"},
    {"Op (", ")"},
    {"Optype (", ")"},
    {"operator (", ")"},
};

static bool is_part_of_name(char character)
{
    return isalnum((unsigned char)character) || character == '_' || character == '.';
}

/* "domain:Name(version) is not a registered function/op" */
static bool find_unregistered(const char *message, struct text *ret)
{
    const char *end = strstr(message, " is not a registered function"), *begin;

    while (end != NULL && end > message && *end != '(')
        end--;
    for (begin = end; begin != NULL && begin > message && is_part_of_name(begin[-1]);)
        begin--;
    if (end == NULL || begin == end)
        return false;
    *ret = (struct text){begin, (size_t)(end - begin)};
    return true;
}

static bool find_form(const char *message, const char *before, const char *behind, struct text *ret)
{
    const char *begin = strstr(message, before), *end;

    if (begin == NULL)
        return false;
    begin += strlen(before);
    for (end = begin; is_part_of_name(*end);)
        end++;
    *ret = (struct text){begin, (size_t)(end - begin)};
    return end > begin && strncmp(end, behind, strlen(behind)) == 0;
}

/* TensorRT's parser, as tensorrt_report_parser_error() has it: "node 3 'name' (Less), in the function f: reason" */
static bool find_parsed_node(const char *message, struct text *ret)
{
    const char *begin = strstr(message, "TensorRT's parser refuses node "), *end;

    while (begin != NULL && (begin = strstr(begin, " (")) != NULL) {
        begin += 2;
        for (end = begin; is_part_of_name(*end);)
            end++;
        *ret = (struct text){begin, (size_t)(end - begin)};
        if (end > begin && end[0] == ')' && (end[1] == ':' || end[1] == ','))
            return true;
    }
    return false;
}

bool failing_functions(const char *message, struct text *ret)
{
    static const char before[] = "), in the function ";
    const char *begin = strstr(message, before), *end;

    if (begin == NULL)
        return false;
    begin += strlen(before);
    end = strstr(begin, ": ");
    *ret = (struct text){begin, end != NULL ? (size_t)(end - begin) : strlen(begin)};
    return true;
}

static void strip_fused(struct text *name)
{
    static const char prefix[] = "Fused";
    const size_t length = strlen(prefix);

    if (name->size > length && memcmp(name->data, prefix, length) == 0)
        *name = (struct text){name->data + length, name->size - length};
}

bool failing_operator(const char *message, struct text *ret)
{
    bool found = find_parsed_node(message, ret) || find_unregistered(message, ret);

    for (size_t i = 0; !found && i < ARRAY_LEN(forms); i++)
        found = find_form(message, forms[i].before, forms[i].behind, ret);
    if (found)
        strip_fused(ret);
    return found;
}
