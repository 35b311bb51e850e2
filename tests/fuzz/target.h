/* tests/fuzz/target.h: what each fuzz_*.c defines. libFuzzer calls it in `make fuzz`, replay_driver.c in `make check`.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Feeds one input to a parser. Returns 0; whatever the input holds, it must not crash, leak or hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
