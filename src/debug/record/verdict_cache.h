/* debug/record/verdict_cache.h: a folder of verdicts that sessions share, to run the same check on the same candidate
 * once.
 *
 * The module debug/record/ contains what outlives a session: its replay (session_replay.h), shared verdicts (this file:
 * the folder; verdict_entry.h: one file of it), and locks on files that a session writes (session_lock.h). Inputs:
 * hashes of a candidate and of a check. Outputs: their verdicts. It may use the layers below debug.
 *
 *   verdict_cache_open(folder, check, log, &cache, err);
 *   candidate_content_hash(artifact, files, &content, err);
 *   verdict_cache_find(cache, content, &verdict, err);
 *   if (!verdict.found)
 *       ... run the check ..., verdict_cache_add(cache, content, &verdict, err);
 *
 * The key consists of the candidate's content (debug/candidate/hash.h), the check (check_hash(): its command and rules;
 * the contents of its program and of files that it names) and this program's version, which most checks run. Each key
 * has its own file, written atomically, so processes may share a folder, also over a network file system; but users
 * must not: a user who can write to it determines verdicts. So symbolic links, files of other users, and files that
 * others can write to are not used.
 */
#ifndef DEBUG_RECORD_VERDICT_CACHE_H
#define DEBUG_RECORD_VERDICT_CACHE_H

#include "base/log.h"
#include "debug/record/verdict_entry.h"

struct verdict_cache;

/* Creates the folder, if missing, readable by this user only. ERR_INVALID if the path is a file, ERR_IO if it cannot be
 * created. If the folder is not safe to use, `*ret` is NULL, with a warning. `log` must outlive the cache, and may be
 * NULL. */
int verdict_cache_open(const char *folder, struct hash check, struct log *log, struct verdict_cache **ret,
                       struct error *err);

/* Warns of ignored entries: their number, and the reason for the first. `cache` may be NULL. */
void verdict_cache_close(struct verdict_cache *cache);

/* Finds the verdict on a candidate; `ret->found`: whether there is one. Damaged or unsafe entries are ignored, and
 * replaced by the next verdict. ERR_IO if an entry cannot be read. */
int verdict_cache_find(struct verdict_cache *cache, struct hash content, struct cached_verdict *ret, struct error *err);

/* Adds a verdict, replacing an older one. `runs` and `fails` are those of this session: they are added to the stored
 * ones, also when processes do so concurrently (if the file system supports locks). ERR_IO if it cannot be written,
 * which the caller may ignore. */
int verdict_cache_add(struct verdict_cache *cache, struct hash content, const struct cached_verdict *verdict,
                      struct error *err);

#endif
