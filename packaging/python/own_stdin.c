/* own_stdin.c: a variable `stdin` of the shared library, which jansson's archive needs in it.
 *
 * Debian compiles the archive for programs: json_loadf(), which this library does not call, compares its argument with
 * `stdin` by a kind of reference that a shared library can only have to a variable of its own.
 */
#include <stdio.h>

#undef stdin
__attribute__((visibility("hidden"))) FILE *stdin;
