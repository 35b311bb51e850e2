/* tests/fuzz/fuzz_tactic_replay.c: tactic replays. What was read has to be the same again once it was written. */
#include <stdlib.h>
#include <string.h>

#include "format/polygraphy/tactic_replay.h"
#include "target.h"

static void assert_same(const struct tactic_replay *a, const struct tactic_replay *b)
{
    if (a->count != b->count)
        abort();
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].layer, b->items[i].layer) != 0 ||
            !tactic_algorithm_equal(&a->items[i].algorithm, &b->items[i].algorithm))
            abort();
}

static void read_again(const struct tactic_replay *replay)
{
    struct tactic_replay again;
    struct json_writer first, second;
    struct error error;

    tactic_replay_init(&again);
    json_writer_init(&first);
    json_writer_init(&second);
    tactic_replay_write(replay, &first);
    if (tactic_replay_parse(&again, first.text.data, first.text.size, "again", &error) < 0)
        abort();
    assert_same(replay, &again);
    tactic_replay_write(&again, &second);
    if (strcmp(first.text.data, second.text.data) != 0)
        abort();
    json_writer_release(&first);
    json_writer_release(&second);
    tactic_replay_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tactic_replay replay;
    struct string_builder text;
    struct error error;

    tactic_replay_init(&replay);
    string_init(&text);
    if (tactic_replay_parse(&replay, data, size, "fuzz", &error) == 0) {
        read_again(&replay);
        for (size_t i = 0; i < replay.count; i++)
            tactic_algorithm_text(&replay.items[i].algorithm, &text);
    }
    string_release(&text);
    tactic_replay_release(&replay);
    return 0;
}
