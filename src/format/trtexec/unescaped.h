/* format/trtexec/unescaped.h: objects that look like JSON, in which trtexec has escaped nothing.
 *
 * A name that holds a quote ends the text for any reader of JSON. Here a text ends at the quote behind which the next
 * member stands, and numbers may be "nan" or "inf". Positions are byte offsets into `text`.
 */
#ifndef FORMAT_TRTEXEC_UNESCAPED_H
#define FORMAT_TRTEXEC_UNESCAPED_H

#include "base/text/text.h"

size_t unescaped_skip_blanks(struct text text, size_t at);

/* Where the value of the member `key` begins when the member itself begins at `at`; else 0. */
size_t unescaped_value_of(struct text text, size_t at, const char *key);

/* The text at `at`, between its quotes, up to a quote with a comma and the member `next_key` behind it. Returns where
 * it ends, behind the quote; 0 when it does not begin or end. */
size_t unescaped_text(struct text text, size_t at, const char *next_key, struct text *ret);

/* The number at `at`; NaN when there is none. Returns where it ends. */
size_t unescaped_number(struct text text, size_t at, double *ret);

#endif
