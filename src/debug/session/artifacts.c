/* debug/session/artifacts.c: naming and moving artifacts. */
#include "debug/session/artifacts.h"

#include <stdbool.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "format/polygraphy/tactic_replay.h"

static const char *const verdict_folders[] = {
    [VERDICT_PASS] = "good",
    [VERDICT_FAIL] = "bad",
    [VERDICT_SKIP] = "skipped",
};

/* Number of artifact `index` among those with the same basename, from 1, in the order given. */
static size_t namesake_number(const struct artifact_settings *settings, size_t index)
{
    char *basename SCOPED_FREE = file_basename(settings->paths.items[index]);
    size_t number = 1;

    for (size_t i = 0; i < index; i++) {
        char *other SCOPED_FREE = file_basename(settings->paths.items[i]);
        number += strcmp(other, basename) == 0;
    }
    return number;
}

/* Destination of artifact `index` as the `number`th of its name. malloc'd. */
static char *artifact_destination(const struct artifact_settings *settings, size_t index, enum verdict verdict,
                                  const char *key, size_t number)
{
    char *basename SCOPED_FREE = file_basename(settings->paths.items[index]);
    const char *extension = file_extension(basename);
    char *folder SCOPED_FREE = file_join(settings->folder, verdict_folders[verdict]);
    struct string_builder path;
    struct tm started;
    char moment[sizeof("MM-DD-YY_HH-MM-SS")] = "";

    localtime_r(&settings->started, &started);
    strftime(moment, sizeof(moment), "%m-%d-%y_%H-%M-%S", &started);

    string_init(&path);
    string_add_format(&path, "%s/%.*s_%s", folder, (int)(extension - basename), basename, moment);
    if (number > 1)
        string_add_format(&path, "_%zu", number);
    string_add_format(&path, "%s%s", key, extension);
    return string_take(&path);
}

static const char *actual_path(const struct artifact_settings *settings, const char *path)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (settings->usual.items[i] != NULL && settings->actual.items[i] != NULL &&
            strcmp(settings->usual.items[i], path) == 0)
            return settings->actual.items[i];
    return path;
}

/* Moves the timing cache of a tactic replay, which lies next to it, along with it. */
static int move_cache(const char *from, const char *to, struct error *err)
{
    SCOPED_STRING(cache);
    SCOPED_STRING(cache_to);

    string_add_format(&cache, "%s" TACTIC_REPLAY_CACHE_SUFFIX, from);
    string_add_format(&cache_to, "%s" TACTIC_REPLAY_CACHE_SUFFIX, to);
    return file_exists(cache.data) ? file_move(cache.data, cache_to.data, err) : 0;
}

/* Moves each artifact to its destination, or to the next free number: another session that began in the same second
 * uses the same names. Moving never replaces a file, so both sessions keep theirs. */
static int sort_all(const struct artifact_settings *settings, enum verdict verdict, const char *key, bool expected,
                    struct log *log, struct error *err)
{
    for (size_t i = 0; i < settings->paths.count; i++) {
        const char *path = settings->paths.items[i], *from = actual_path(settings, path);
        size_t number = namesake_number(settings, i);
        int rc, moved = 0;

        if (!file_exists(from)) {
            if (expected)
                log_message(log, LOG_ERROR, "Artifact: %s does not exist, skipping.", path);
            continue;
        }
        do {
            char *to SCOPED_FREE = artifact_destination(settings, i, verdict, key, number++);

            rc = file_make_parent_folders(to, err);
            if (rc == 0)
                rc = file_exists(to) ? ERR_EXISTS : file_move(from, to, err);
            if (rc == 0) {
                log_message(log, LOG_INFO, "Moving %s to %s", path, to);
                moved = move_cache(from, to, err);
            }
        } while (rc == ERR_EXISTS);
        if (rc < 0 || moved < 0)
            return err->code;
    }
    return 0;
}

int artifacts_sort(const struct artifact_settings *settings, enum verdict verdict, const char *key, struct log *log,
                   struct error *err)
{
    return sort_all(settings, verdict, key, true, log, err);
}

int artifacts_sort_leftovers(const struct artifact_settings *settings, enum verdict verdict, const char *key,
                             struct log *log, struct error *err)
{
    return sort_all(settings, verdict, key, false, log, err);
}
