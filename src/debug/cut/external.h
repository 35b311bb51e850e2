/* debug/cut/external.h: external data of candidates on disk. */
#ifndef DEBUG_CUT_EXTERNAL_H
#define DEBUG_CUT_EXTERNAL_H

#include "onnx/external/data.h"

struct candidate_files {
    char *folder;          /* of the candidates */
    char *own_data;        /* path of a candidate's own external data */
    bool stay;             /* the last candidate and its data are not removed */
    bool claimed;          /* `own_data` was written by this process */
    bool copy;             /* external data instead of linking them */
    struct path_list made; /* external data of the original that were linked or copied to the folder */
};

/* Prepares candidates at `artifact`. ERR_EXISTS if their own external data would replace another file, unless
 * `take_over`. Release also after an error. */
int candidate_files_init(struct candidate_files *files, const char *artifact, bool stay, bool take_over,
                         struct error *err);

/* Links or copies the external data of `whole` to the folder. */
int candidate_files_provide(struct candidate_files *files, const struct subgraph *whole, struct error *err);

/* Called before a candidate with its own external data is written: removes the previous data. From then on the path may
 * contain the data of a result. */
void candidate_files_claim_own_data(struct candidate_files *files);
void candidate_files_drop_own_data(struct candidate_files *files);

/* Keeps the external data that `result`, saved at `path`, refers to. */
void candidate_files_leave_for(struct candidate_files *files, const struct subgraph *result, const char *path);

/* Removes files that are no longer needed, now or when this process terminates. */
void candidate_files_release(struct candidate_files *files);

#endif
