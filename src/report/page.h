/* report/page.h: the page around a document. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/text/string_builder.h"

/* Appends the page. `title` and `sentence` stand in it as text, so that they are read without the script, too. */
void report_page_make(const char *title, const char *sentence, struct text document, struct string_builder *ret);

#endif
