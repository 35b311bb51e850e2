/* base/roomy_heap.c: see roomy_heap.h. */
#include "base/roomy_heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__GLIBC__) && defined(__linux__)

enum {
    AT_A_TIME = 64 << 20,
    LARGEST_BLOCK = 32 << 20, /* what is larger has a mapping of its own: more is not allowed */
    LARGE_PAGE = 2 << 20,
};

void roomy_heap_choose(void)
{
    uintptr_t start, end;
    void *volatile block; /* or the compiler would leave it out */

    mallopt(M_TOP_PAD, AT_A_TIME);
    mallopt(M_TRIM_THRESHOLD, 2 * AT_A_TIME);
    mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    start = (uintptr_t)sbrk(0);
    block = malloc(LARGEST_BLOCK / 2); /* the heap grows now */
    free(block);
    end = (uintptr_t)sbrk(0);
    /* Small models need no more than what comes before: making a large page costs as much as making many small ones. */
    start = (start + 2 * LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
}

#else

void roomy_heap_choose(void)
{
}

#endif
