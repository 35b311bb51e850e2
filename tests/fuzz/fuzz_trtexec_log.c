/* tests/fuzz/fuzz_trtexec_log.c: verbose logs of builds. */
#include "format/trtexec/build_log.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct build_candidates candidates;
    struct layer_info info;
    struct build_log log;
    struct error error;

    if (build_log_parse(&log, (struct text){(const char *)data, size}, "fuzz", &error) < 0)
        return 0;
    build_log_layers(&log, &info);
    for (size_t i = 0; i < info.layers.count; i++)
        build_log_candidates(&log, &info.layers.items[i], &candidates);
    layer_info_release(&info);
    build_log_release(&log);
    return 0;
}
