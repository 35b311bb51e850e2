/* tests/fuzz/fuzz_verdict_entry.c: entries of verdict caches. What was read has to be the same again once it was
 * written. */
#include <stdlib.h>
#include <string.h>

#include "debug/record/verdict_entry.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct verdict_entry entry, again;
    struct string_builder first, second;
    struct error error = {0};

    if (verdict_entry_parse(data, size, "fuzz", &entry, &error) < 0)
        return 0;
    string_init(&first);
    string_init(&second);
    verdict_entry_write(&entry, &first);
    if (verdict_entry_parse(first.data, first.size, "again", &again, &error) < 0)
        abort();
    verdict_entry_write(&again, &second);
    if (strcmp(first.data, second.data) != 0 || again.verdict.runs != entry.verdict.runs ||
        again.verdict.fails != entry.verdict.fails || again.verdict.code != entry.verdict.code)
        abort();
    string_release(&first);
    string_release(&second);
    return 0;
}
