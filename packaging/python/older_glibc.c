/* older_glibc.c: names that archives compiled with glibc 2.38 or later refer to; older ones do not have them.
 *
 * The C23 functions of these names also accept "0b101", which nothing in these archives reads. Source: glibc's
 * stdlib.h, __GLIBC_USE (C2X_STRTOL).
 */
#include <stdlib.h>

long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

long __isoc23_strtol(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

long long __isoc23_strtoll(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}

unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return strtoul(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}
