/* report/page.c: the templates, and what is put into them. This is the only place where text becomes markup. */
#include "report/page.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* The files of report/page/ are in the program, byte for byte. The assembler finds them from the root of the tree,
 * where the compiler runs. */
#define EMBED(name, path)                                                                                              \
    __asm__(".section .rodata\n"                                                                                       \
            ".globl " name "\n.hidden " name "\n" name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n")

EMBED("report_page_html", "src/report/page/page.html");
EMBED("report_page_css", "src/report/page/page.css");
EMBED("report_elements_js", "src/report/page/elements.js");
EMBED("report_tables_js", "src/report/page/tables.js");
EMBED("report_network_js", "src/report/page/network.js");
EMBED("report_dagre_js", "src/report/page/dagre.js");
EMBED("report_layout_js", "src/report/page/layout.js");
EMBED("report_graph_js", "src/report/page/graph.js");
EMBED("report_curves_js", "src/report/page/curves.js");
EMBED("report_page_js", "src/report/page/page.js");

extern const char report_page_html[], report_page_css[], report_elements_js[], report_tables_js[], report_network_js[],
    report_dagre_js[], report_layout_js[], report_graph_js[], report_curves_js[], report_page_js[];

/* What page.html names "{{page.css}}". */
static const struct {
    const char *name, *content;
} parts[] = {
    {"page.css", report_page_css},     {"elements.js", report_elements_js}, {"tables.js", report_tables_js},
    {"network.js", report_network_js}, {"dagre.js", report_dagre_js},       {"layout.js", report_layout_js},
    {"graph.js", report_graph_js},     {"curves.js", report_curves_js},     {"page.js", report_page_js},
};

/* For the content of an element and for attributes in quotes. */
static void add_html_escaped(struct string_builder *out, const char *text)
{
    size_t size = strlen(text);
    size_t length;

    for (size_t i = 0; i < size; i += length) {
        length = text_utf8_length(text + i, size - i);
        if (length == 0) {
            string_add(out, "\xEF\xBF\xBD"); /* U+FFFD */
            length = 1;
        } else if (length == 1 && strchr("<>&\"'", text[i]) != NULL) {
            string_add_format(out, "&#%d;", text[i]);
        } else {
            string_add_bytes(out, text + i, length);
        }
    }
}

/* For a script element, which ends at "</" and has comments, whatever is in quotes. JSON can say all of it otherwise,
 * and has these characters in strings alone. */
static void add_document(struct string_builder *out, struct text document)
{
    size_t start = 0;

    for (size_t i = 0; i < document.size; i++)
        if (strchr("<>&", document.data[i]) != NULL) {
            string_add_bytes(out, document.data + start, i - start);
            string_add_format(out, "\\u%04x", (unsigned)(unsigned char)document.data[i]);
            start = i + 1;
        }
    string_add_bytes(out, document.data + start, document.size - start);
}

static void add_element(struct string_builder *out, const char *start, const char *text, const char *end)
{
    string_add(out, start);
    add_html_escaped(out, text);
    string_add(out, end);
}

static void add_proof(struct string_builder *out, const struct words *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        add_element(out, "<li>", lines->items[i], "</li>\n");
}

static void add_commands(struct string_builder *out, const struct page_entries *commands)
{
    for (size_t i = 0; i < commands->count; i++) {
        if (commands->items[i].name != NULL)
            add_element(out, "<p>", commands->items[i].name, "</p>\n");
        add_element(out, "<pre class=\"command\" tabindex=\"0\"><code>", commands->items[i].text, "</code></pre>\n");
    }
}

static void add_environment(struct string_builder *out, const struct page_entries *environment)
{
    for (size_t i = 0; i < environment->count; i++) {
        add_element(out, "<dt>", environment->items[i].name, "</dt>");
        add_element(out, "<dd>", environment->items[i].text, "</dd>\n");
    }
}

static void add_part(struct string_builder *out, const struct page *page, struct text name)
{
    if (text_equal_string(name, "title"))
        add_html_escaped(out, page->title);
    else if (text_equal_string(name, "verdict"))
        add_html_escaped(out, page->verdict);
    else if (text_equal_string(name, "label"))
        add_html_escaped(out, page->label);
    else if (text_equal_string(name, "sentence"))
        add_html_escaped(out, page->sentence);
    else if (text_equal_string(name, "proof"))
        add_proof(out, &page->proof);
    else if (text_equal_string(name, "commands"))
        add_commands(out, &page->commands);
    else if (text_equal_string(name, "environment"))
        add_environment(out, &page->environment);
    else if (text_equal_string(name, "document"))
        add_document(out, page->document);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (text_equal_string(name, parts[i].name))
            string_add(out, parts[i].content);
}

void page_make(const struct page *page, struct string_builder *ret)
{
    char nonce[HASH_TEXT_SIZE]; /* marks the page's own script: nothing else may run, whatever got into the markup */
    const char *rest = report_page_html;
    const char *mark;

    hash_to_text(hash_bytes(page->document.data, page->document.size), nonce);
    while ((mark = strstr(rest, "{{")) != NULL) {
        struct text name = {mark + 2, strcspn(mark + 2, "}")};

        string_add_bytes(ret, rest, (size_t)(mark - rest));
        if (text_equal_string(name, "nonce"))
            string_add(ret, nonce);
        else
            add_part(ret, page, name);
        rest = mark + 2 + name.size + 2;
    }
    string_add(ret, rest);
}
