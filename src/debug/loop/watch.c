/* debug/loop/watch.c: what a check should leave as it is: its candidate, and the files that the session is about. */
#include <string.h>

#include "debug/loop/state.h"

static bool is_artifact(const struct loop *loop, const char *path)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (loop->settings.check.files.items[i] != NULL && strcmp(loop->settings.check.files.items[i], path) == 0)
            return true;
    for (size_t i = 0; i < loop->settings.artifacts.paths.count; i++)
        if (strcmp(loop->settings.artifacts.paths.items[i], path) == 0)
            return true;
    return false;
}

void loop_watch_files(struct loop *loop)
{
    struct watched_files named = {0};

    if (loop->settings.model != NULL)
        watched_files_add(&loop->watched, loop->settings.model, true);
    for (size_t i = 0; i < loop->settings.data.count; i++)
        watched_files_add(&loop->watched, loop->settings.data.items[i], true);
    check_words_watch(check_words(loop->check), &named);
    for (size_t i = 0; i < named.count; i++)
        if (!is_artifact(loop, named.items[i].path))
            watched_files_add(&loop->watched, named.items[i].path, named.items[i].vital);
    watched_files_release(&named);
}

void loop_watch(struct loop *loop, const char *path)
{
    watched_files_add(&loop->watched, path, true);
}

int loop_refuse_changes(struct loop *loop, const struct job_slot *slot, struct error *err)
{
    enum candidate_file file = candidate_place_find_changed(&slot->place);
    const struct watched_file *changed;

    if (file != CANDIDATE_FILES)
        return error_set(
            err, ERR_INVALID,
            "the check has changed '%s', which it was given to judge: its verdict is about something else. "
            "Let it work on a copy",
            loop->settings.check.files.items[file]);
    while ((changed = watched_files_find_changed(&loop->watched)) != NULL) {
        if (changed->vital)
            return error_set(err, ERR_INVALID,
                             "'%s' has changed while the check ran: what was found so far is about what it was before. "
                             "Let the check work on a copy",
                             changed->path);
        log_once(
            loop->log, LOG_WARNING,
            "'%s', which the check names, has changed while it ran. If the check also reads it, its verdicts depend "
            "on those before",
            changed->path);
    }
    return 0;
}
