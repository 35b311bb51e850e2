/* debug/accuracy/folder.h: the folder of a study, and what an earlier session has left there. */
#ifndef DEBUG_ACCURACY_FOLDER_H
#define DEBUG_ACCURACY_FOLDER_H

#include "debug/accuracy/study.h"

/* Makes the folder, or finds out whose it is; then it is this session's until study_free(). A session of the same
 * question that was interrupted is resumed, and one that came to its end begins anew, unless `resume` of the settings;
 * both only as long as nothing of the inputs (inputs.h) has changed since. ERR_EXISTS where another question, or
 * another session, has the folder; ERR_INVALID where it is to be resumed and cannot be. */
int accuracy_folder_open(struct study *study, struct error *err);

/* Marks the session as completed. */
int accuracy_folder_finish(struct study *study, struct error *err);

#endif
