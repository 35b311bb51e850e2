/* debug/candidate/hash.h: what a check gets to see, as a hash of its content. */
#ifndef DEBUG_CANDIDATE_HASH_H
#define DEBUG_CANDIDATE_HASH_H

#include "base/error.h"
#include "base/hash.h"

/* Hashes the candidate at `artifact`, an ONNX model with the external data that it refers to, or the engine of a plan
 * file; and `more_files` (NULL-terminated, in an order that counts; NULL: none). Paths do not matter, only what the
 * files hold. Files are streamed. What an external file holds is remembered for as long as the process lives
 * (base/file/identity.h), since candidates share them. ERR_MISSING or ERR_IO when a file cannot be
 * read, ERR_CORRUPT when the artifact is neither. May be called from several threads. */
int candidate_content_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

#endif
