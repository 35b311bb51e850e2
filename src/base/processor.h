/* base/processor.h: what the program runs on. */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include "base/text/string_builder.h"

/* Appends the processor's name, as the operating system tells it; "unknown" when it does not. */
void processor_name(struct string_builder *ret);

#endif
