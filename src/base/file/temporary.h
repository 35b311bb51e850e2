/* base/file/temporary.h: names for what is not finished. Internal to base/file. */
#ifndef BASE_FILE_TEMPORARY_H
#define BASE_FILE_TEMPORARY_H

/* A name beside `path` that probably nobody has: "<folder>/.<basename>.<process>.<sixteen digits>.<six characters>".
 * The process is told, and by the digits where its number counts (which start of which machine, which PID namespace),
 * so that file_remove_leftovers() knows what nobody is writing any more. malloc'd. */
char *file_temporary_name(const char *path);

#endif
