/* debug/record/verdict_entry.h: one file of a verdict cache (docs/formats.md). */
#ifndef DEBUG_RECORD_VERDICT_ENTRY_H
#define DEBUG_RECORD_VERDICT_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"
#include "search/search.h"

#define VERDICT_ENTRY_LARGEST ((size_t)64 << 10) /* bytes; larger than any entry */

/* The verdict on a candidate. */
struct cached_verdict {
    bool found; /* if false, the rest is zero */
    enum verdict verdict;
    size_t runs, fails;               /* with --flaky: decided runs, and failures among them; else 0 */
    bool has_code;                    /* the exit code of the check is known */
    int code;                         /* -N stands for signal N */
    char reason[PROCESS_REASON_SIZE]; /* reason of the failure, or "" */
};

struct verdict_entry {
    char program[32];                                    /* version of the program that wrote it */
    char check[HASH_TEXT_SIZE], content[HASH_TEXT_SIZE]; /* hexadecimal */
    struct cached_verdict verdict;                       /* with `found` set */
};

/* ERR_CORRUPT if the bytes are not a valid entry; ERR_UNSUPPORTED if their format is newer. `name` is for messages.
 * Unknown members are ignored. */
int verdict_entry_parse(const void *data, size_t size, const char *name, struct verdict_entry *ret, struct error *err);

/* Appends the text of an entry, with its checksum. */
void verdict_entry_write(const struct verdict_entry *entry, struct string_builder *ret);

/* Adds a last member to the text of an object, "checksum": a hash of all bytes before it. */
void verdict_entry_seal(struct string_builder *text);

/* False if a byte was changed or is missing since verdict_entry_seal(). */
bool verdict_entry_is_sealed(const void *data, size_t size);

#endif
