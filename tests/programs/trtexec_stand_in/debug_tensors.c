/* tests/programs/trtexec_stand_in/debug_tensors.c: tensors in the middle of the network, as --saveDebugTensors and
 * --saveAllDebugTensors write them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "programs/trtexec_stand_in/stand_in.h"
#include "tensor/values/elements.h"

#define SHOWN_ELEMENTS 10

static struct {
    unsigned number; /* of the next file */
    struct string_builder items;
} summary;

static bool asked(const char *format)
{
    const char *formats = option("saveAllDebugTensors");

    return formats != NULL && strstr(formats, format) != NULL;
}

static bool is_narrow_float(enum data_type type)
{
    return data_type_is_float(type) && type != DATA_FLOAT32 && type != DATA_FLOAT16 && type != DATA_FLOAT64;
}

static void number_add(struct string_builder *text, double value)
{
    string_add_format(text, isfinite(value) ? "%g" : "\"%g\"", value);
}

/* ---- Files ---- */

static void write_bytes(const char *stem, const char *extension, const void *data, size_t size)
{
    struct string_builder name;
    struct error err = {0};

    string_init(&name);
    string_add_format(&name, "%s.%s", stem, extension);
    if (file_write(name.data, data, size, FILE_INTERMEDIATE, &err) < 0)
        say('E', "%s", err.message);
    string_release(&name);
}

static const char *numpy_type(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT16:
        return "<f2";
    case DATA_INT8:
        return "<i1";
    case DATA_INT32:
        return "<i4";
    case DATA_INT64:
        return "<i8";
    case DATA_UINT8:
        return "|u1";
    case DATA_BOOL:
        return "|b1";
    default:
        return "<f4";
    }
}

/* Types that NumPy does not have are widened, and the file's name says so. */
static void write_numpy(struct string_builder *stem, const struct tensor *tensor)
{
    struct string_builder text, file;
    size_t header, count = tensor_elements(tensor);

    string_init(&text);
    string_init(&file);
    string_add_format(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", numpy_type(tensor->type));
    for (size_t i = 0; i < tensor->shape.rank; i++)
        string_add_format(&text, "%lld, ", (long long)tensor->shape.dims[i]);
    string_add(&text, "), }");
    while ((10 + text.size + 1) % 16 != 0)
        string_add_char(&text, ' ');
    string_add_char(&text, '\n');
    header = text.size;
    string_add_bytes(&file, "\x93NUMPY\x01\x00", 8);
    string_add_char(&file, (char)(header & 0xff));
    string_add_char(&file, (char)(header >> 8));
    string_add_bytes(&file, text.data, text.size);
    if (is_narrow_float(tensor->type)) {
        string_add(stem, "_to_float");
        for (size_t i = 0; i < count; i++) {
            float value;

            elements_to_float32(tensor, i, 1, &value);
            string_add_bytes(&file, &value, sizeof(value));
        }
    } else {
        string_add_bytes(&file, tensor->data, tensor->size);
    }
    write_bytes(stem->data, "npy", file.data, file.size);
    string_release(&text);
    string_release(&file);
}

static void rows_add(struct string_builder *text, const struct tensor *tensor, size_t axis, size_t *element)
{
    size_t count = axis < tensor->shape.rank ? (size_t)tensor->shape.dims[axis] : 1;
    bool innermost = axis + 1 >= tensor->shape.rank;

    for (size_t i = 0; i < axis; i++)
        string_add_char(text, ' ');
    string_add(text, innermost ? "[" : "[\n");
    for (size_t i = 0; i < count; i++)
        if (innermost) {
            double value;

            elements_to_float64(tensor, (*element)++, 1, &value);
            string_add_format(text, "%s% e", i > 0 ? " " : "", value);
        } else {
            rows_add(text, tensor, axis + 1, element);
        }
    for (size_t i = 0; !innermost && i < axis; i++)
        string_add_char(text, ' ');
    string_add(text, "]\n");
}

static void write_string(const char *stem, const struct tensor *tensor)
{
    struct string_builder text;
    size_t element = 0;

    string_init(&text);
    rows_add(&text, tensor, 0, &element);
    string_add(&text, "\n");
    write_bytes(stem, "str", text.data, text.size);
    string_release(&text);
}

/* ---- The summary ---- */

static void add_statistics(struct string_builder *text, const struct tensor *tensor)
{
    size_t count = tensor_elements(tensor);
    double least = INFINITY, most = -INFINITY, sum = 0;

    for (size_t i = 0; i < count; i++) {
        double value;

        elements_to_float64(tensor, i, 1, &value);
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value;
    }
    string_add(text, "    \"statistics\": {\n        \"min\": ");
    number_add(text, least);
    string_add(text, ",\n        \"max\": ");
    number_add(text, most);
    string_add(text, ",\n        \"avg\": ");
    number_add(text, sum / (double)count);
    string_add(text, ",\n        \"elements\": \"");
    for (size_t i = 0; i < count && i < SHOWN_ELEMENTS; i++) {
        double value;

        elements_to_float64(tensor, i, 1, &value);
        string_add_format(text, "%s%g", i > 0 ? ", " : "", value);
    }
    string_add(text, count > SHOWN_ELEMENTS ? ", ...\"\n    },\n" : "\"\n    },\n");
}

static const char *type_in_summary(enum data_type type)
{
    static const char *const words[DATA_TYPE_COUNT] = {
        [DATA_FLOAT32] = "FLOAT", [DATA_FLOAT16] = "HALF", [DATA_BFLOAT16] = "BF16", [DATA_INT8] = "INT8",
        [DATA_INT32] = "INT32",   [DATA_INT64] = "INT64",  [DATA_BOOL] = "BOOL",     [DATA_UINT8] = "UINT8",
    };

    return words[type] != NULL ? words[type] : "UNKNOWN";
}

static void add_to_summary(const char *name, const struct tensor *tensor, const char *stem, const char *numpy_stem)
{
    static const char *const kinds[] = {"numpy", "string", "raw"}, *const extensions[] = {"npy", "str", "raw"};
    struct string_builder *text = &summary.items;
    const char *between = "";

    string_add_format(text, "%s  {\n    \"name\": \"%s\",\n    \"shape\": [", text->size > 0 ? ",\n" : "", name);
    for (size_t i = 0; i < tensor->shape.rank; i++)
        string_add_format(text, "%s%lld", i > 0 ? ", " : "", (long long)tensor->shape.dims[i]);
    string_add_format(text, "],\n    \"type\": \"%s\",\n", type_in_summary(tensor->type));
    add_statistics(text, tensor);
    string_add(text, "    \"files\": {\n");
    for (size_t i = 0; i < 3; i++)
        if (asked(kinds[i])) {
            string_add_format(text, "%s      \"%s\": \"%s.%s\"", between, kinds[i], i == 0 ? numpy_stem : stem,
                              extensions[i]);
            between = ",\n";
        }
    string_add(text, "\n    }\n  }");
}

void save_debug_tensors(const struct loaded_engine *loaded, const struct tensor_list *outputs)
{
    struct pairs chosen = option_pairs("saveDebugTensors");

    for (size_t i = 0; i < loaded->debug_names.count; i++) {
        const char *name = loaded->debug_names.items[i];
        const struct named_tensor *found = tensor_list_find((struct tensor_list *)(uintptr_t)outputs, text_of(name));
        struct string_builder stem, numpy_stem;

        if (found == NULL)
            continue;
        if (pairs_find(&chosen, name) != NULL) {
            struct error err = {0};

            file_write(pairs_find(&chosen, name), found->tensor.data, found->tensor.size, FILE_INTERMEDIATE, &err);
        }
        if (!given("saveAllDebugTensors"))
            continue;
        string_init(&stem);
        string_add_format(&stem, "%04u_", summary.number++);
        add_safe(&stem, name);
        string_init(&numpy_stem);
        string_add(&numpy_stem, stem.data);
        if (asked("numpy"))
            write_numpy(&numpy_stem, &found->tensor);
        if (asked("string"))
            write_string(stem.data, &found->tensor);
        if (asked("raw"))
            write_bytes(stem.data, "raw", found->tensor.data, found->tensor.size);
        if (asked("summary"))
            add_to_summary(name, &found->tensor, stem.data, numpy_stem.data);
        string_release(&stem);
        string_release(&numpy_stem);
    }
}

void finish_debug_tensors(void)
{
    struct string_builder text;
    time_t now = time(NULL);
    char stamp[40];

    if (!asked("summary"))
        return;
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
    string_init(&text);
    string_add_format(&text,
                      "{\n  \"metadata\": {\n    \"title\": \"Tensor Summary Report\",\n    \"time_generated\": "
                      "\"%s\",\n    \"engine_name\": \"Unnamed Network 0\",\n    \"command_line\": \"%s\"\n  },\n"
                      "  \"tensors\": [\n%s\n  ]\n}\n",
                      stamp, stand_in.command, summary.items.size > 0 ? summary.items.data : "");
    write_bytes("tensor_summary", "json", text.data, text.size);
    string_release(&text);
}
