/* report/page.h: the page around a document. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/text/string_builder.h"

/* Lines that belong to each other: what a command does and the command, or a name and a value. */
struct page_entry {
    const char *name; /* NULL: there is none */
    const char *text;
};

struct page_entries {
    struct page_entry *items;
    size_t count, capacity;
};

/* What a page consists of. All but the document stands in it as text, so that it is read without scripts, too. */
struct page {
    const char *title;
    const char *verdict; /* "cause", "failed", "passed" or "unknown" */
    const char *label;   /* the same for readers; "" if unknown */
    const char *sentence;
    struct words proof;
    struct page_entries commands, environment;
    struct text document; /* JSON */
};

/* Appends the page as HTML. */
void page_make(const struct page *page, struct string_builder *ret);

#endif
