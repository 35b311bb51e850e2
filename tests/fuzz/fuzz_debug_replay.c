/* tests/fuzz/fuzz_debug_replay.c: debug replays. The text that is kept of one has to read as the same entries again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/polygraphy/debug_replay.h"
#include "target.h"

static void read_again(const struct debug_replay *replay)
{
    struct debug_replay again;
    struct string_builder file;
    struct error error;

    debug_replay_init(&again);
    string_init(&file);
    string_add_char(&file, '{');
    string_add_bytes(&file, replay->text.data, replay->text.size);
    string_add_char(&file, '}');
    if (debug_replay_parse(&again, file.data, file.size, "again", &error) < 0)
        abort();
    if (again.count != replay->count || again.text.size != replay->text.size ||
        memcmp(again.text.data, replay->text.data, replay->text.size) != 0)
        abort();
    debug_replay_release(&again);
    string_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct debug_replay replay;
    struct error error = {0};

    debug_replay_init(&replay);
    if (debug_replay_parse(&replay, data, size, "fuzz", &error) == 0) {
        read_again(&replay);
        if (replay.count > 0) {
            char key[64];

            snprintf(key, sizeof(key), "%s", replay.items[0].key);
            debug_replay_set(&replay, key, &(struct replay_entry){.iteration = 5, .num_nodes = 3, .success = true});
            debug_replay_set(&replay, "_N0", &(struct replay_entry){.iteration = 5, .num_nodes = -1});
            read_again(&replay);
        }
    }
    debug_replay_release(&replay);
    return 0;
}
