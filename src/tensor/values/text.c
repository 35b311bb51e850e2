/* tensor/values/text.c: prints arrays with brackets, line breaks and abbreviation. */
#include "tensor/values/text.h"

#include "tensor/values/element_text.h"

struct printer {
    const struct tensor *tensor;
    const struct tensor_text_options *options;
    bool abbreviate;
    struct element_layout layout;
    struct string_builder word; /* the element at hand */
    size_t column;              /* characters in the current line so far */
    struct string_builder *text;
};

/* The printed part of one dimension: `items` items, of which item `gap` is "..." (SIZE_MAX: none). */
struct shown {
    size_t items, gap, length;
};

static struct shown shown_of(const struct printer *printer, size_t axis)
{
    size_t length = (size_t)printer->tensor->shape.dims[axis];
    size_t edge = printer->options->edge_items;

    if (!printer->abbreviate || edge >= length || 2 * edge >= length)
        return (struct shown){length, SIZE_MAX, length};
    return (struct shown){edge + 1 + (edge > 0 ? edge : 1), edge, length}; /* the last one is always shown */
}

/* The first element of item `item` along `axis`, in the part that starts at element `first`. */
static size_t element_at(const struct printer *printer, const struct shown *span, size_t axis, size_t first,
                         size_t item)
{
    const struct shape *shape = &printer->tensor->shape;
    size_t element = item < span->gap ? item : span->length - (span->items - item);

    for (size_t i = axis + 1; i < shape->rank; i++)
        element *= (size_t)shape->dims[i];
    return first + element;
}

static void see_shown(struct printer *printer, size_t axis, size_t first)
{
    struct shown span = shown_of(printer, axis);

    for (size_t item = 0; item < span.items; item++) {
        size_t element = element_at(printer, &span, axis, first, item);
        if (item == span.gap)
            continue;
        if (axis + 1 == printer->tensor->shape.rank)
            element_layout_see(&printer->layout, element);
        else
            see_shown(printer, axis + 1, element);
    }
}

static size_t count_characters(const struct string_builder *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->size; i++)
        count += ((unsigned char)text->data[i] & 0xc0) != 0x80; /* UTF-8 continuation bytes do not count */
    return count;
}

static void trim_blanks(struct string_builder *text)
{
    size_t size = text->size;

    while (size > 0 && text->data[size - 1] == ' ')
        size--;
    string_truncate(text, size);
}

static void begin_line(struct printer *printer, size_t breaks, size_t indent)
{
    while (breaks-- > 0)
        string_add_char(printer->text, '\n');
    for (size_t i = 0; i < indent; i++)
        string_add_char(printer->text, ' ');
    printer->column = indent;
}

/* Appends the word to the current line of a row, or to a new line if it does not fit. */
static void add_printed_word(struct printer *printer, bool is_first)
{
    size_t rank = printer->tensor->shape.rank; /* number of brackets that open a row, and that may close it */
    size_t width = printer->options->line_width > rank ? printer->options->line_width - rank : 0;
    size_t length = count_characters(&printer->word);

    if (is_first) {
        printer->column = rank;
    } else {
        string_add_char(printer->text, ' ');
        printer->column++;
        if (printer->column + length > width) {
            trim_blanks(printer->text);
            begin_line(printer, 1, rank);
        }
    }
    string_add_bytes(printer->text, printer->word.data, printer->word.size);
    printer->column += length;
}

static void print_axis(struct printer *printer, size_t axis, size_t first)
{
    size_t inner = printer->tensor->shape.rank - 1 - axis; /* dimensions within */
    struct shown span = shown_of(printer, axis);

    string_add_char(printer->text, '[');
    for (size_t item = 0; item < span.items; item++) {
        size_t element = element_at(printer, &span, axis, first, item);
        if (inner > 0 && item > 0)
            begin_line(printer, inner, axis + 1);
        if (inner > 0 && item != span.gap) {
            print_axis(printer, axis + 1, element);
            continue;
        }
        string_clear(&printer->word);
        if (item == span.gap)
            string_add(&printer->word, "...");
        else
            element_to_text(&printer->layout, element, &printer->word);
        add_printed_word(printer, item == 0 || inner > 0);
    }
    string_add_char(printer->text, ']');
}

void tensor_to_text(const struct tensor *tensor, const struct tensor_text_options *options, struct string_builder *text)
{
    size_t elements = tensor_elements(tensor);
    struct printer printer = {
        .tensor = tensor, .options = options, .abbreviate = elements > options->threshold, .text = text};

    if (tensor->type == DATA_UNDEFINED)
        return;
    if (elements == 0) {
        string_add(text, "[]");
        return;
    }
    if (tensor->shape.rank == 0) {
        element_to_text_alone(tensor, 0, text);
        return;
    }
    element_layout_init(&printer.layout, tensor);
    string_init(&printer.word);
    see_shown(&printer, 0, 0);
    print_axis(&printer, 0, 0);
    string_release(&printer.word);
}
