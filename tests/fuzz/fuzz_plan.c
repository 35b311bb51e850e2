/* tests/fuzz/fuzz_plan.c: plan files. Their checksum is made to fit first, because hostile files have one that does.
 * What could be read is made a replay of, and its constants are read. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/plan/layout.h"
#include "engine/plan/plan.h"
#include "engine/plan/replay.h"
#include "engine/run/layer_step.h"
#include "format/polygraphy/tactic_replay.h"
#include "target.h"

/* Files whose lengths are wrong stay as they are. */
static void seal(uint8_t *bytes, size_t size)
{
    uint64_t described = 0;
    struct hash hash;

    for (size_t i = 0; i < 8; i++)
        described |= (uint64_t)bytes[PLAN_AT_DESCRIPTION_SIZE + i] << (8 * i);
    if (described > size - PLAN_HEADER_SIZE)
        return;
    hash = plan_description_hash(bytes, bytes + PLAN_HEADER_SIZE, (size_t)described);
    for (size_t i = 0; i < 8; i++) {
        bytes[PLAN_AT_DESCRIPTION_HASH + i] = (uint8_t)(hash.low >> (8 * i));
        bytes[PLAN_AT_DESCRIPTION_HASH + 8 + i] = (uint8_t)(hash.high >> (8 * i));
    }
}

/* What a run would do first: constants, of which some may be damaged. */
static void read_constants(const struct network *network)
{
    for (uint32_t i = 0; i < network->model->values.count; i++) {
        struct tensor tensor = {0};
        struct error err;

        if (network->model->values.items[i].initializer != INITIALIZER_NONE &&
            layer_constant_read(network, i, &tensor, &err) == 0)
            tensor_release(&tensor);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = (uint8_t *)memory_copy(data, size);
    struct tactic_replay replay;
    struct engine *engine;
    struct error err;

    if (size >= PLAN_HEADER_SIZE && memcmp(bytes, PLAN_MAGIC, PLAN_MAGIC_SIZE) == 0)
        seal(bytes, size);
    if (plan_parse((struct span){bytes, size}, "fuzz", NULL, &engine, &err) == 0) {
        tactic_replay_init(&replay);
        engine_replay(engine, &replay);
        tactic_replay_release(&replay);
        read_constants(engine->network);
        engine_free(engine);
    }
    free(bytes);
    return 0;
}
