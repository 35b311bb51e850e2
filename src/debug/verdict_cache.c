/* debug/verdict_cache.c: see verdict_cache.h. */
#include "debug/verdict_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/version.h"

#define LOCK_NAME "lock" /* a file in the folder that guards counts while they are added up */

struct verdict_cache {
    char *folder;
    struct hash check;
    struct log *log;
};

int verdict_cache_open(const char *folder, struct hash check, struct log *log, struct verdict_cache **ret,
                       struct error *err)
{
    struct verdict_cache *cache;
    int rc;

    if (folder[0] == '\0')
        return error_set(err, ERR_INVALID, "the name of the verdict cache is empty: it is a folder");
    if (file_exists(folder) && !file_is_folder(folder))
        return error_set(err, ERR_INVALID, "the verdict cache '%s' is not a folder: give one, or a path that is free",
                         folder);
    rc = file_make_folders(folder, err);
    if (rc < 0)
        return error_context(err, "cannot make the verdict cache '%s'", folder);
    cache = memory_alloc_zero(1, sizeof(*cache));
    cache->folder = memory_strdup(folder);
    cache->check = check;
    cache->log = log;
    *ret = cache;
    return 0;
}

void verdict_cache_close(struct verdict_cache *cache)
{
    if (cache == NULL)
        return;
    free(cache->folder);
    free(cache);
}

/* "<folder>/ab/ab12….json": folders with very many files are slow on some file systems. malloc'd. */
static char *path_of(const struct verdict_cache *cache, struct hash content)
{
    struct hash program = hash_bytes(POLYGRAPHY_VERSION, strlen(POLYGRAPHY_VERSION));
    char key[HASH_TEXT_SIZE], name[HASH_TEXT_SIZE + 8];

    hash_to_text(hash_combine(hash_combine(content, cache->check), program), key);
    snprintf(name, sizeof(name), "%.2s/%s.json", key, key);
    return file_join(cache->folder, name);
}

static void describe(const struct verdict_cache *cache, struct hash content, struct verdict_entry *ret)
{
    *ret = (struct verdict_entry){0};
    snprintf(ret->program, sizeof(ret->program), "%s", POLYGRAPHY_VERSION);
    hash_to_text(cache->check, ret->check);
    hash_to_text(content, ret->content);
}

/* A file that is there, but is not what its name says, is worth a warning and no more. */
static int parse(const char *path, const char *text, size_t size, const struct verdict_entry *expected,
                 struct verdict_entry *ret, struct error *err)
{
    struct verdict_entry entry;
    int rc = verdict_entry_parse(text, size, path, &entry, err);

    if (rc < 0)
        return rc;
    if (strcmp(entry.check, expected->check) != 0 || strcmp(entry.content, expected->content) != 0 ||
        strcmp(entry.program, expected->program) != 0)
        return error_set(err, ERR_CORRUPT, "%s: it belongs to another candidate or check", path);
    *ret = entry;
    return 0;
}

int verdict_cache_find(struct verdict_cache *cache, struct hash content, struct cached_verdict *ret, struct error *err)
{
    struct verdict_entry expected, entry = {0};
    struct error why = {0};
    char *path = path_of(cache, content);
    char *text = NULL;
    size_t size;
    int rc = file_read(path, VERDICT_ENTRY_LARGEST, &text, &size, &why);

    describe(cache, content, &expected);
    if (rc == 0)
        rc = parse(path, text, size, &expected, &entry, &why);
    if (rc == ERR_IO) {
        error_set(err, ERR_IO, "%s", why.message);
    } else if (rc < 0 && rc != ERR_MISSING) {
        log_message(cache->log, LOG_WARNING, "A damaged entry of the verdict cache is not used: %s", why.message);
        entry = (struct verdict_entry){0};
    }
    free(text);
    free(path);
    if (rc == ERR_IO)
        return rc;
    *ret = entry.verdict;
    return 0;
}

/* ---- Adding ---- */

/* Waits until no other process adds up counts. Returns the descriptor to close; -1 when the file system has no locks, or
 * does not let us make that file: then a run may be lost, and nothing else. */
static int lock(const struct verdict_cache *cache)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = file_join(cache->folder, LOCK_NAME);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    free(path);
    while (fd >= 0 && fcntl(fd, F_SETLKW, &whole) != 0)
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

int verdict_cache_add(struct verdict_cache *cache, struct hash content, const struct cached_verdict *verdict,
                      struct error *err)
{
    struct verdict_entry entry;
    struct cached_verdict earlier = {0};
    struct string_builder text;
    char *path = path_of(cache, content);
    int fd = verdict->runs > 0 ? lock(cache) : -1;
    int rc = 0;

    describe(cache, content, &entry);
    entry.verdict = *verdict;
    if (verdict->runs > 0)
        rc = verdict_cache_find(cache, content, &earlier, err);
    if (rc == 0) {
        entry.verdict.runs += earlier.runs;
        entry.verdict.fails += earlier.fails;
        string_init(&text);
        verdict_entry_write(&entry, &text);
        rc = file_write(path, text.data, text.size, FILE_INTERMEDIATE, err);
        string_release(&text);
    }
    if (rc < 0)
        error_context(err, "verdict cache");
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}
