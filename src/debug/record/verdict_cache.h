/* debug/record/verdict_cache.h: verdicts that sessions share, in a folder: what was checked once, with the same check,
 * is known.
 *
 * The module debug/record/ keeps what outlives a session: its replay (session_replay.h), verdicts that sessions share
 * (this file: the folder; verdict_entry.h: one file of it), and locks on what a session writes (session_lock.h). Hashes
 * of a candidate and of a check come in, what is known of them goes out. It may use the layers below debug.
 *
 *   verdict_cache_open(folder, check, log, &cache, err);
 *   candidate_content_hash(artifact, files, &content, err);
 *   verdict_cache_find(cache, content, &verdict, err);
 *   if (!verdict.found)
 *       ... run the check ..., verdict_cache_add(cache, content, &verdict, err);
 *
 * A key is made of the candidate's content (debug/candidate/hash.h), the check (check_hash(): its words and rules; and
 * the contents of its program and of the files that it names) and this program's version, which checks mostly run. Each
 * key has a file of its own, written whole, so any number of processes may share a folder, also over a network file
 * system; but not several users: whoever can write to it says what verdicts are. So what is a symbolic link, or belongs
 * to somebody else, or can be written by others, is not used.
 */
#ifndef DEBUG_RECORD_VERDICT_CACHE_H
#define DEBUG_RECORD_VERDICT_CACHE_H

#include "base/log.h"
#include "debug/record/verdict_entry.h"

struct verdict_cache;

/* Makes the folder where it is missing, for nobody else to read. ERR_INVALID when there is a file, ERR_IO when it
 * cannot be made. When it is not to be trusted `*ret` is NULL, with a warning. `log` has to outlive the cache, and may
 * be NULL. */
int verdict_cache_open(const char *folder, struct hash check, struct log *log, struct verdict_cache **ret,
                       struct error *err);

/* Warns of entries that were ignored: how many, and of the first one why. NULL is fine. */
void verdict_cache_close(struct verdict_cache *cache);

/* What is known of a candidate: `ret->found` says whether anything is. An entry that is damaged or not to be trusted is
 * ignored; it is replaced when there is a verdict. ERR_IO when there is an entry that cannot be read. */
int verdict_cache_find(struct verdict_cache *cache, struct hash content, struct cached_verdict *ret, struct error *err);

/* Keeps a verdict, in place of an older one. `runs` and `fails` are those of this session alone: they are added to what
 * is there, and no run is lost when several processes do so at once (unless the file system has no locks). ERR_IO
 * when it cannot be written: there is no harm in going on without. */
int verdict_cache_add(struct verdict_cache *cache, struct hash content, const struct cached_verdict *verdict,
                      struct error *err);

#endif
