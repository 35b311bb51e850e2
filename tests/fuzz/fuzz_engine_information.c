/* tests/fuzz/fuzz_engine_information.c: what TensorRT writes about engines: layer information, profiles, the start of
 * an engine; the knobs of its compiler. Layer information is the same again once it was written, in both schemas. */
#include <stdlib.h>
#include <string.h>

#include "format/tensorrt/build_knobs.h"
#include "format/tensorrt/layer_diff.h"
#include "format/tensorrt/plan_header.h"
#include "format/tensorrt/profile.h"
#include "format/tensorrt/replay.h"
#include "target.h"

static void read_again(const struct layer_info *info, enum layer_info_schema schema)
{
    struct string_builder first, second;
    struct layer_info again;

    string_init(&first);
    string_init(&second);
    layer_info_write(info, schema, &first);
    if (layer_info_parse(&again, first.data, first.size, "again", NULL) < 0 ||
        again.layers.count != info->layers.count || again.bindings.count != info->bindings.count)
        abort();
    layer_info_write(&again, schema, &second);
    if (strcmp(first.data, second.data) != 0)
        abort();
    layer_info_release(&again);
    string_release(&first);
    string_release(&second);
}

/* What is told of a knob can be told to it: no word of a route holds what ends it. */
static void look_at_knobs(const struct build_knobs *knobs)
{
    for (size_t i = 0; i < knobs->count; i++) {
        const struct build_knob *knob = &knobs->items[i];
        const char *least = build_knob_least(knob);

        if (strpbrk(knob->name, " =;\n") != NULL || (least != NULL && strpbrk(least, " =;\n") != NULL) ||
            build_knobs_find(knobs, text_of(knob->name)) != knob)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layer_info info;
    struct layer_profile profile;
    struct tactic_replay replay;
    struct layer_diff diff;
    struct build_knobs knobs;
    struct text text = {(const char *)data, size};
    struct plan_header header;
    struct error error;

    if (layer_info_parse(&info, data, size, "fuzz", &error) == 0) {
        for (size_t i = 0; i < info.layers.count; i++)
            layer_info_precision(&info.layers.items[i], NULL);
        read_again(&info, LAYER_INFO_SCHEMA_8_TO_10);
        read_again(&info, LAYER_INFO_SCHEMA_11);
        tactic_replay_init(&replay);
        layer_info_to_replay(&info, &replay, &error);
        tactic_replay_release(&replay);
        layer_diff_make(&info, &info, &diff);
        if (!layer_diff_is_empty(&diff))
            abort();
        layer_diff_release(&diff);
        layer_info_release(&info);
    }
    if (layer_profile_parse(&profile, text, "fuzz", &error) == 0)
        layer_profile_release(&profile);
    if (build_knobs_parse(&knobs, text, &error) == 0) {
        look_at_knobs(&knobs);
        build_knobs_release(&knobs);
    }
    plan_header_parse((struct span){data, size}, &header, &error);
    return 0;
}
