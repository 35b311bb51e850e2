/* tests/fuzz/fuzz_timing_cache.c: timing caches. What was read has to be the same again once it was written. */
#include <stdlib.h>
#include <string.h>

#include "engine/build/timing_cache.h"
#include "target.h"

static void read_again(const struct timing_cache *cache)
{
    struct timing_cache *again = timing_cache_new();
    struct json_writer first, second;
    struct error error;

    json_writer_init(&first);
    json_writer_init(&second);
    timing_cache_write(cache, &first);
    if (timing_cache_parse(again, (struct span){(const uint8_t *)first.text.data, first.text.size}, "again", &error) <
        0)
        abort();
    timing_cache_write(again, &second);
    if (strcmp(first.text.data, second.text.data) != 0)
        abort();
    json_writer_release(&first);
    json_writer_release(&second);
    timing_cache_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct timing_cache *cache = timing_cache_new();
    struct error error;

    if (timing_cache_parse(cache, (struct span){data, size}, "fuzz", &error) == 0)
        read_again(cache);
    else if (timing_cache_count(cache) > 0)
        abort();
    timing_cache_free(cache);
    return 0;
}
