/* base/system.h: this program, and the machine that it runs on. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include "base/text/string_builder.h"

#define POLYGRAPHY_VERSION "0.1.0"
#define POLYGRAPHY_RELEASE_TIME 1795392000 /* when that was made: seconds since 1970, of November 23, 2026 */

/* Seconds since an arbitrary fixed moment: wall time that no clock change disturbs. */
double stopwatch_now(void);

/* The path of this program's file, malloc'd; NULL where the system does not tell. */
char *system_program_path(void);

/* The path of the loaded library that has this symbol, as long as it is loaded; NULL where the system does not tell. */
const char *system_library_of(const void *symbol);

/* The folder for temporary files: what TMPDIR names, /tmp without it. */
const char *system_temporary_folder(void);

/* How many processors this process may use, 1 at the least. */
int system_processors(void);

/* Whether sums of two products of 8-bit numbers, one with a sign, are made in 16 bits, where they saturate: processors
 * of x86-64 without VNNI (Intel 64 and IA-32 Architectures Software Developer's Manual, VPMADDUBSW). */
bool system_saturates_products(void);

/* Appends the processor's name, as the operating system tells it; "unknown" when it does not. */
void system_add_processor_name(struct string_builder *ret);

#endif
