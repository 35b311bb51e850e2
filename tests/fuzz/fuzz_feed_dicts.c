/* tests/fuzz/fuzz_feed_dicts.c: files of input data. */
#include "format/polygraphy/feed_dicts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed_dicts feeds = {0};
    struct error error = {0};

    feed_dicts_parse(&feeds, data, size, "fuzz", &error);
    feed_dicts_release(&feeds);
    return 0;
}
