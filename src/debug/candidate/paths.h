/* debug/candidate/paths.h: the files that a candidate consists of while it is checked. */
#ifndef DEBUG_CANDIDATE_PATHS_H
#define DEBUG_CANDIDATE_PATHS_H

enum candidate_file {
    CANDIDATE_ARTIFACT,    /* the model or engine */
    CANDIDATE_INPUTS,      /* --iter-inputs */
    CANDIDATE_GOLDEN,      /* --iter-golden */
    CANDIDATE_INFORMATION, /* --iter-info */
    CANDIDATE_FILES,       /* how many there are */
};

/* By enum candidate_file; NULL: there is none. */
struct candidate_paths {
    const char *items[CANDIDATE_FILES];
};

#endif
