/* tests/programs/trtexec_stand_in/outputs.c: what inputs and outputs look like in files and in the log. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "programs/trtexec_stand_in/stand_in.h"
#include "tensor/values/elements.h"

#define LONGEST_NAME 150 /* of a raw file, before its shape and type, from 10.13 on */

const char *type_word(enum data_type type)
{
    static const char *const words[DATA_TYPE_COUNT] = {
        [DATA_FLOAT32] = "fp32",     [DATA_FLOAT16] = "fp16", [DATA_BFLOAT16] = "bf16",  [DATA_INT8] = "int8",
        [DATA_INT32] = "int32",      [DATA_INT64] = "int64",  [DATA_BOOL] = "bool",      [DATA_UINT8] = "uint8",
        [DATA_FLOAT8E4M3FN] = "fp8", [DATA_INT4] = "int4",    [DATA_FLOAT4E2M1] = "fp4",
    };

    return words[type] != NULL ? words[type] : "unknown";
}

void add_safe(struct string_builder *text, const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        string_add_char(text, isalnum((unsigned char)*c) || strchr("._,-", *c) != NULL ? *c : '_');
}

/* As a C++ stream prints them: six digits; "nan", "-nan" and "inf" as they are. */
void elements_add(struct string_builder *text, const struct tensor *tensor, const char *between)
{
    bool whole = elements_arithmetic(tensor->type) == ARITHMETIC_INTEGER;

    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        string_add(text, i > 0 ? between : "");
        if (whole) {
            uint64_t value;

            elements_to_integers(tensor, i, 1, &value);
            string_add_integer(text, (int64_t)value);
        } else {
            double value;

            elements_to_float64(tensor, i, 1, &value);
            string_add_format(text, "%g", value);
        }
    }
}

/* ---- Raw files ---- */

/* Where a run decided on the size, the file is cut to what the dimensions known before it hold. */
static size_t raw_bytes(const struct binding *binding)
{
    size_t elements = 1, bytes;

    for (size_t i = 0; i < binding->shape.rank; i++)
        elements *= (size_t)llabs(binding->shape.dims[i]);
    bytes = tensor_bytes(binding->type, elements);
    return bytes < binding->values.size ? bytes : binding->values.size;
}

static void dump_binding(const struct binding *binding)
{
    const char *kind = binding->is_input ? "input" : "output";
    struct string_builder name, shape;
    struct error err = {0};

    string_init(&name);
    string_init(&shape);
    dimensions_add(&shape, &binding->shape, '.');
    add_safe(&name, binding->name);
    if (stand_in.version != V8 && name.size > LONGEST_NAME) {
        char *tail = memory_strdup(name.data + name.size - (LONGEST_NAME - 3) / 2);

        string_truncate(&name, LONGEST_NAME - 3 - (LONGEST_NAME - 3) / 2);
        string_add_format(&name, "...%s", tail);
        free(tail);
    }
    string_add_format(&name, ".%s.%s.%s.raw", kind, shape.data, type_word(binding->type));
    say('I', "Writing file for %s binding %s (with datatype %s and dimensions %s) to %s", kind, binding->name,
        type_word(binding->type), shape.data, name.data);
    if (file_write(name.data, binding->values.data, raw_bytes(binding), FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&name);
    string_release(&shape);
}

void dump_raw(const struct inference *inference)
{
    say('I', "Dumping I/O Bindings to RAW Files:");
    for (size_t i = inference->count; i-- > 0;)
        dump_binding(&inference->bindings[i]);
}

/* ---- Text ---- */

static void values_add(struct string_builder *text, const struct binding *binding, const char *between)
{
    if (binding->is_dynamic) {
        string_add(text, "Final shape is ");
        dimensions_add(text, &binding->values.shape, 'x');
        string_add(text, " reported by the output allocator.\n");
    }
    elements_add(text, &binding->values, between);
}

void dump_outputs(const struct inference *inference)
{
    for (size_t i = inference->count; i-- > 0;) {
        const struct binding *binding = &inference->bindings[i];
        struct string_builder shape, values;

        if (binding->is_input)
            break;
        string_init(&shape);
        string_init(&values);
        dimensions_add(&shape, &binding->shape, 'x');
        values_add(&values, binding, " ");
        say('I', "%s: (%s)", binding->name, shape.data);
        say('I', "%s", values.data);
        string_release(&shape);
        string_release(&values);
    }
}

/* Names as they are; what is not a number as the stream has it: not always JSON. */
void export_outputs(const struct inference *inference, const char *path)
{
    struct string_builder text;
    struct error err = {0};
    const char *before = "  ";

    string_init(&text);
    string_add(&text, "[\n");
    for (size_t i = 0; i < inference->count; i++) {
        const struct binding *binding = &inference->bindings[i];

        if (binding->is_input)
            continue;
        string_add_format(&text, "%s{ \"name\" : \"%s\"\n  , \"dimensions\" : \"", before, binding->name);
        dimensions_add(&text, &binding->shape, 'x');
        string_add(&text, "\"\n  , \"values\" : [ ");
        values_add(&text, binding, ", ");
        string_add(&text, " ]\n  }\n");
        before = ", ";
    }
    string_add(&text, "]\n");
    if (file_write(path, text.data, text.size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&text);
}
