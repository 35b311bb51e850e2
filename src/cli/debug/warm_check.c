/* cli/debug/warm_check.c: see warm_check.h. */
#include "cli/debug/warm_check.h"

#include <stdbool.h>
#include <string.h>

#include "backend/onnxrt/warm.h"
#include "engine/onednn/library.h"

static bool has_word(const char *const *words, const char *word)
{
    for (; *words != NULL; words++)
        if (strncmp(*words, word, strlen(word)) == 0)
            return true;
    return false;
}

void warm_check_prepare(void *words)
{
    const struct onednn *onednn;

    if (has_word(words, "--onnxruntime-lib"))
        return;
    if (has_word(words, "--onnxrt") || has_word(words, "--trt"))
        onnxrt_warm_up(NULL);
    if (has_word(words, "--trt"))
        onednn_load(&onednn, NULL);
}
