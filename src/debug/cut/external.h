/* debug/cut/external.h: what candidates need beside them on the disk: external data. */
#ifndef DEBUG_CUT_EXTERNAL_H
#define DEBUG_CUT_EXTERNAL_H

#include "onnx/external/data.h"

struct candidate_files {
    char *folder;          /* where candidates are written */
    char *own_data;        /* path of the external data that a candidate gets when it is written with any */
    bool stay;             /* the last candidate is not removed, and so none of this */
    bool claimed;          /* `own_data` is ours */
    bool copy;             /* rather than link them */
    struct path_list made; /* the original's external data, as far as they had to be linked or copied to the folder */
};

/* For candidates at `artifact`. Their own external data must not be somebody else's file: ERR_EXISTS, unless
 * `take_over`. Release also after an error. */
int candidate_files_init(struct candidate_files *files, const char *artifact, bool stay, bool take_over,
                         struct error *err);

/* Makes the external data of `whole` reachable from the folder. */
int candidate_files_provide(struct candidate_files *files, const struct subgraph *whole, struct error *err);

/* A candidate is about to be written with external data of its own; removes what they were written to. From then on the
 * path may have the data of a result. */
void candidate_files_claim_own_data(struct candidate_files *files);
void candidate_files_drop_own_data(struct candidate_files *files);

/* Leaves in place what `result`, which was saved at `path`, refers to. */
void candidate_files_leave_for(struct candidate_files *files, const struct subgraph *result, const char *path);

/* Removes what is not needed any more, now or whenever this process ends. */
void candidate_files_release(struct candidate_files *files);

#endif
