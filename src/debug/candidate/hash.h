/* debug/candidate/hash.h: hash of the content of a candidate's files. */
#ifndef DEBUG_CANDIDATE_HASH_H
#define DEBUG_CANDIDATE_HASH_H

#include "base/error.h"
#include "base/hash.h"

/* Hashes the candidate at `artifact`, an ONNX model with its external data or the engine of a plan file, and
 * `more_files` (NULL-terminated, order matters; NULL: none). Only contents count, not paths. Files are streamed; hashes
 * of external files are cached for the lifetime of the process (base/file/identity.h), since candidates share them.
 * ERR_MISSING or ERR_IO if a file cannot be read, ERR_CORRUPT if the artifact is neither a model nor an engine.
 * Thread-safe. */
int candidate_content_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

/* The same for an artifact that is any other file: a list, a library. */
int candidate_file_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

#endif
