/* debug/check/output.c: see output.h. */
#include "debug/check/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"

/* Whether `byte` continues a UTF-8 sequence: a cut before it would tear a character apart. */
static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void check_output_render(const struct process_output *output, struct string_builder *ret)
{
    const char *data = output->data;
    size_t head = CHECK_OUTPUT_SHOWN;

    if (output->size == 0)
        return;
    if (output->size <= 2 * CHECK_OUTPUT_SHOWN) {
        string_add_visible(ret, (struct text){data, output->size});
        return;
    }
    size_t tail = output->size - CHECK_OUTPUT_SHOWN;
    for (int i = 0; i < 3 && continues_character(data[head]); i++)
        head--;
    for (int i = 0; i < 3 && continues_character(data[tail]); i++)
        tail++;

    /* The line in place of what was not kept is not the check's. */
    string_add_visible(ret, (struct text){data, head});
    string_add_format(ret, "\n[... %" PRIu64 " bytes left out ...]\n",
                      tail - head - (output->tail - output->head) + output->left_out);
    string_add_visible(ret, (struct text){data + tail, output->size - tail});
}

static void replace_all(struct process_output *output, const char *from, const char *to)
{
    size_t length = strlen(from), done = 0;
    const char *found = output->size > 0 ? memmem(output->data, output->size, from, length) : NULL;
    struct string_builder text;

    if (found == NULL)
        return;
    struct process_output renamed = *output;
    string_init(&text);
    while (found != NULL) {
        size_t at = (size_t)(found - output->data);

        string_add_bytes(&text, output->data + done, at - done);
        string_add(&text, to);
        if (at < output->head)
            renamed.head += strlen(to) - length;
        if (at < output->tail)
            renamed.tail += strlen(to) - length;
        done = at + length;
        found = memmem(output->data + done, output->size - done, from, length);
    }
    string_add_bytes(&text, output->data + done, output->size - done);

    process_output_release(output);
    renamed.fd = -1;
    renamed.size = text.size;
    renamed.data = string_take(&text);
    *output = renamed;
}

void check_output_rename(struct process_output *output, const char *actual, const char *usual)
{
    char *actual_name = file_basename(actual), *usual_name = file_basename(usual);

    replace_all(output, actual, usual);
    if (strcmp(actual_name, usual_name) != 0)
        replace_all(output, actual_name, usual_name);
    free(usual_name);
    free(actual_name);
}
