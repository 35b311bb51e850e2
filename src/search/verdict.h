/* search/verdict.h: what a check said about one candidate. */
#ifndef SEARCH_VERDICT_H
#define SEARCH_VERDICT_H

enum verdict {
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_SKIP, /* neither: the candidate cannot be tested, or fails in another way */
};

#endif
