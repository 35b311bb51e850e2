/* base/container/span.h: bytes that lie in somebody else's memory. */
#ifndef BASE_CONTAINER_SPAN_H
#define BASE_CONTAINER_SPAN_H

#include <stdint.h>

#include "base/text/text.h"

struct span {
    const uint8_t *data;
    size_t size; /* bytes */
};

static inline struct text span_text(struct span span)
{
    return (struct text){(const char *)span.data, span.size};
}

#endif
