/* tests/fuzz/fuzz_calibration_cache.c: calibration caches. What was read has to be the same again once it was
 * written. */
#include <stdlib.h>
#include <string.h>

#include "engine/precision/calibration.h"
#include "target.h"

static void read_again(const struct calibration *calibration)
{
    struct calibration *again = calibration_new(CALIBRATION_ENTROPY, 0);
    struct string_builder first, second;
    struct error error;

    string_init(&first);
    string_init(&second);
    if (calibration_write(calibration, &first, &error) < 0)
        abort();
    if (calibration_parse(again, (struct span){(const uint8_t *)first.data, first.size}, "again", &error) < 0)
        abort();
    if (calibration_write(again, &second, &error) < 0 || strcmp(first.data, second.data) != 0)
        abort();
    string_release(&first);
    string_release(&second);
    calibration_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calibration *calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    struct error error;

    if (calibration_parse(calibration, (struct span){data, size}, "fuzz", &error) == 0)
        read_again(calibration);
    calibration_free(calibration);
    return 0;
}
