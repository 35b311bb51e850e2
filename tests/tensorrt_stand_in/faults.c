/* tests/tensorrt_stand_in/faults.c: faults that TENSORRT_STAND_IN_FAULTS turns on.
 *
 *   crash-STAGE          the process is killed by SIGSEGV; stages: parse, build, load, run
 *   abort-STAGE          it is killed by SIGABRT, as after an exception that nothing catches
 *   hang-STAGE           the stage never ends
 *   null-builder, null-network, null-parser, null-context   the function that creates the object returns NULL
 *   small-pointer        the runtime is the number 0x228, which is what NVIDIA's library returns without a GPU
 *   parser-fails         the parser refuses the model and reports no error
 *   build-fails          the builder finds no implementation for a node
 *   endless-build        the builder reports steps until its progress monitor cancels the build
 *   build-assertion      the builder ends with an internal assertion
 *   out-of-memory        the builder, or the inference, has no device memory left
 *   run-fails            an inference fails
 *   wrong-strides        strides of outputs that are not those of row-major tensors
 *   non-conforming       layers are built in another precision than requested, which only a verbose message reports
 *   unpinned             algorithm selectors and timing caches have no effect
 *   routes-refused       knobs of the compiler are refused next to each other: conv_lowering=off, kgen:tiling=0
 *   timing-cache-refused a timing cache is of another device
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "tensorrt_stand_in/stand_in.h"

bool has_fault(const char *name)
{
    const char *faults = getenv("TENSORRT_STAND_IN_FAULTS");
    size_t size = strlen(name);

    for (const char *at = faults; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

void end_at_stage(const char *stage)
{
    char name[32];

    snprintf(name, sizeof(name), "crash-%s", stage);
    if (has_fault(name))
        raise(SIGSEGV);
    snprintf(name, sizeof(name), "abort-%s", stage);
    if (has_fault(name)) {
        fprintf(stderr, "terminate called after throwing an instance of 'std::runtime_error'\n");
        abort();
    }
    snprintf(name, sizeof(name), "hang-%s", stage);
    while (has_fault(name))
        pause();
}

const char *draw_seed(void)
{
    static char number[24];
    const char *seed = getenv("TENSORRT_STAND_IN_SEED");
    struct error err = {0};
    char *text = NULL;
    size_t size;

    if (seed == NULL || seed[0] != '@')
        return seed;
    snprintf(number, sizeof(number), "%ld",
             file_read(seed + 1, 64, &text, &size, &err) == 0 ? strtol(text, NULL, 10) + 1 : 1);
    free(text);
    file_write(seed + 1, number, strlen(number), FILE_INTERMEDIATE, &err);
    return number;
}
