/* base/system.h: information about this program and this machine. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include "base/text/string_builder.h"

#define POLYGRAPHY_VERSION "0.1.0"
#define POLYGRAPHY_RELEASE_TIME 1795392000 /* when that was made: seconds since 1970, of November 23, 2026 */

/* Seconds of a monotonic clock with an arbitrary origin. */
double stopwatch_now(void);

/* The path of this program's file, malloc'd; NULL if unknown. */
char *system_program_path(void);

/* The path of the loaded library that contains this symbol, valid while it is loaded; NULL if unknown. */
const char *system_library_of(const void *symbol);

/* Sets `*ret_function` to the function of this name in a library that dlopen() loaded. False, and NULL, if there is
 * none. */
bool system_find_function(void *library, const char *name, void *ret_function);

/* The folder for temporary files: TMPDIR, by default /tmp. */
const char *system_temporary_folder(void);

/* The number of processors that this process may use, at least 1. */
int system_processors(void);

/* Whether sums of two products of a signed and an unsigned 8-bit number saturate in 16 bits: x86-64 processors without
 * VNNI (Intel 64 and IA-32 Architectures Software Developer's Manual, VPMADDUBSW). */
bool system_saturates_products(void);

/* Appends the processor's name from the operating system, or "unknown". */
void system_add_processor_name(struct string_builder *ret);

#endif
