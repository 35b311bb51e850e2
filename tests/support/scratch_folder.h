/* support/scratch_folder.h: an empty folder to work in, for cmocka's set-up and tear-down. */
#ifndef SUPPORT_SCRATCH_FOLDER_H
#define SUPPORT_SCRATCH_FOLDER_H

#include <stdbool.h>

/* enter() creates a folder and makes it the current one; leave() goes back and removes it with its contents. Return
 * 0. */
int scratch_folder_enter(void **state);
int scratch_folder_leave(void **state);

/* Writes `content` to the file `name`, with permission to execute it. */
void scratch_file(const char *name, const char *content);

/* The number of entries of a folder; 0 when there is no such folder. */
int scratch_count(const char *folder);

/* Whether the file holds exactly `content`. */
bool scratch_file_is(const char *name, const char *content);

#endif
