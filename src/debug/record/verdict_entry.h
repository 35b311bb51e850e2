/* debug/record/verdict_entry.h: one file of a verdict cache (docs/formats.md). */
#ifndef DEBUG_RECORD_VERDICT_ENTRY_H
#define DEBUG_RECORD_VERDICT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"
#include "search/search.h"

#define VERDICT_ENTRY_LARGEST ((size_t)64 << 10) /* bytes; no entry has that many */

/* What is known of a candidate. */
struct cached_verdict {
    bool found; /* otherwise nothing is known, and the rest is zero */
    enum verdict verdict;
    size_t runs, fails; /* of an unreliable check: runs that said something, and how many of them failed; else 0 */
    bool has_code;      /* the check ended with this exit code */
    int code;           /* -N stands for signal N */
    char reason[PROCESS_REASON_SIZE]; /* for which it ended so, or "" */
};

struct verdict_entry {
    char program[32];                                    /* version of the program that wrote it */
    char check[HASH_TEXT_SIZE], content[HASH_TEXT_SIZE]; /* hexadecimal */
    struct cached_verdict verdict;                       /* found */
};

/* ERR_CORRUPT when the bytes are no entry, or one that makes no sense; ERR_UNSUPPORTED when they are of a later format.
 * `name` is for messages. Members that are not known are passed over. */
int verdict_entry_parse(const void *data, size_t size, const char *name, struct verdict_entry *ret, struct error *err);

/* Appends the text of an entry, sealed. */
void verdict_entry_write(const struct verdict_entry *entry, struct string_builder *ret);

/* Gives the text of an object a last member, "checksum": a hash of all that stands before it. */
void verdict_entry_seal(struct string_builder *text);

/* False when a byte was changed, or something is missing, since the text was sealed. */
bool verdict_entry_is_sealed(const void *data, size_t size);

#endif
