/* debug/record/session_replay.c: see session_replay.h. */
#include "debug/record/session_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/shell_line.h"
#include "base/text/string_builder.h"

/* Refuses a replay of another model or check, unless forced. */
static int check_binding(struct session_replay *replay, bool force, const char *model, const char *check,
                         struct error *err)
{
    const struct debug_replay *loaded = &replay->replay;

    replay->resumes = force;
    if (!loaded->has_session) {
        if (loaded->count > 0)
            replay->remark = "The debug replay does not record its model and check. Make sure that it belongs to this "
                             "model and this check";
        return 0;
    }
    bool same_model = strcmp(loaded->model_hash, model) == 0;
    bool same_check = strcmp(loaded->check_hash, check) == 0;
    if (same_model && same_check) {
        replay->resumes = true;
        return 0;
    }
    if (force) {
        replay->remark =
            "The debug replay belongs to another model or check. Its verdicts are used because of --force-debug-replay";
        return 0;
    }
    return error_set(err, ERR_INVALID,
                     "debug replay '%s' belongs to another %s, so its verdicts may not apply. Leave it out, or pass "
                     "--force-debug-replay to use it anyway",
                     replay->load_path,
                     same_check   ? "model, or to other options"
                     : same_model ? "check"
                                  : "model or other options, and to another check");
}

int session_replay_open(struct session_replay *replay, const struct replay_binding *binding, struct log *log,
                        struct error *err)
{
    char model[HASH_TEXT_SIZE], check[HASH_TEXT_SIZE];
    int rc = 0;

    *replay = (struct session_replay){.load_path = binding->load_path, .save_path = binding->save_path, .log = log};
    debug_replay_init(&replay->replay);
    if (binding->save_path)
        replay->skip_current_path = debug_replay_skip_current_path(binding->save_path);
    hash_to_text(binding->model, model);
    hash_to_text(binding->check, check);
    if (binding->load_path) {
        rc = debug_replay_load(&replay->replay, binding->load_path, err);
        if (rc == 0)
            rc = check_binding(replay, binding->force, model, check, err);
    }
    if (rc < 0)
        return rc;
    replay->replay.has_session = true;
    memcpy(replay->replay.model_hash, model, HASH_TEXT_SIZE);
    memcpy(replay->replay.check_hash, check, HASH_TEXT_SIZE);
    return 0;
}

void session_replay_release(struct session_replay *replay)
{
    debug_replay_release(&replay->replay);
    free(replay->skip_current_path);
}

void session_replay_remove_leftovers(const struct session_replay *replay)
{
    if (replay->save_path)
        file_remove_leftovers(replay->save_path);
    if (replay->skip_current_path)
        file_remove_leftovers(replay->skip_current_path);
}

void session_replay_announce(struct session_replay *replay)
{
    if (!replay->load_path || replay->announced)
        return;
    replay->announced = true;
    log_message(replay->log, LOG_INFO, "Loading debug replay from %s", replay->load_path);
    if (replay->remark)
        log_message(replay->log, LOG_WARNING, "%s", replay->remark);
}

bool session_replay_find(const struct session_replay *replay, const char *key, struct saved_verdict *ret)
{
    const struct replay_entry *entry = debug_replay_find(&replay->replay, key);

    if (entry == NULL || (replay->pending != NULL && strcmp(replay->pending, key) == 0))
        return false;
    *ret = (struct saved_verdict){
        .iteration = entry->iteration,
        .nodes = entry->num_nodes,
        .verdict = entry->skipped   ? VERDICT_SKIP
                   : entry->success ? VERDICT_PASS
                                    : VERDICT_FAIL,
        .counts = {(size_t)entry->runs, (size_t)entry->fails},
    };
    return true;
}

/* Whether the file at the save path is the one that was loaded, so that nothing is lost. */
static bool is_loaded(const struct session_replay *replay, const struct stat *saved)
{
    struct stat loaded;

    return replay->load_path != NULL && ((stat(replay->load_path, &loaded) == 0 && loaded.st_ino == saved->st_ino &&
                                          loaded.st_dev == saved->st_dev) ||
                                         strcmp(replay->load_path, replay->skip_current_path) == 0);
}

/* Renames the replay of another session to FILE.old, replacing an older one. */
static int keep_old(struct session_replay *replay, struct error *err)
{
    struct stat status;
    SCOPED_STRING(old);
    char *target SCOPED_FREE = NULL;
    int rc = 0;

    if (replay->kept_old)
        return 0;
    replay->kept_old = true;
    if (stat(replay->save_path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0 ||
        is_loaded(replay, &status))
        return 0;
    target = file_follow_links(replay->save_path);
    string_add_format(&old, "%s.old", target);
    if (rename(target, old.data) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot rename the debug replay '%s' to '%s'", replay->save_path, old.data);
    else
        log_message(replay->log, LOG_INFO, "The debug replay of an earlier session is kept as %s", old.data);
    return rc;
}

static void set_entry(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                      enum verdict said)
{
    struct replay_entry entry = {
        .iteration = verdict->iteration >= 0 ? verdict->iteration : 0, /* replays have no negative numbers */
        .num_nodes = verdict->nodes,
        .success = said != VERDICT_FAIL,
        .skipped = said == VERDICT_SKIP,
        .runs = (int64_t)verdict->counts.runs,
        .fails = (int64_t)verdict->counts.fails,
    };

    debug_replay_set(&replay->replay, key, &entry);
}

int session_replay_save_as_failed(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                                  struct error *err)
{
    int rc;

    if (!replay->skip_current_path)
        return 0;
    rc = keep_old(replay, err);
    if (rc < 0)
        return rc;
    replay->pending = key;
    set_entry(replay, key, verdict, VERDICT_FAIL);
    return debug_replay_save(&replay->replay, replay->skip_current_path, err);
}

int session_replay_save(struct session_replay *replay, const char *key, const struct saved_verdict *verdict,
                        struct error *err)
{
    replay->pending = NULL;
    if (!replay->save_path)
        return 0;
    int rc = keep_old(replay, err);
    if (rc < 0)
        return rc;
    set_entry(replay, key, verdict, verdict->verdict);
    log_message(replay->log, LOG_INFO, "Saving debug replay to %s", replay->save_path);
    rc = debug_replay_save(&replay->replay, replay->save_path, err);
    if (rc == 0)
        replay->saved = true;
    return rc;
}

/* ---- How to go on there ---- */

#define LOAD_REPLAY "--load-debug-replay"

/* Number of words of the option --load-debug-replay at this place; 0: another option. */
static size_t load_replay_words(const char *const *words)
{
    if (text_begins_with(text_of(words[0]), LOAD_REPLAY "="))
        return 1;
    if (strcmp(words[0], LOAD_REPLAY) == 0)
        return words[1] ? 2 : 1;
    return 0;
}

static bool is_check(const char *word)
{
    return strcmp(word, "--check") == 0 || strcmp(word, "--check-inference") == 0 ||
           text_begins_with(text_of(word), "--check=") || text_begins_with(text_of(word), "--check-inference=");
}

char *resume_hint_make(const char *const *command_line, const char *replay, bool options_after_check)
{
    struct string_builder builder;
    bool placed = false;
    const char *const *word = command_line;

    string_init(&builder);
    while (*word) {
        if (!placed && is_check(*word)) {
            shell_add_argument(&builder, LOAD_REPLAY);
            shell_add_argument(&builder, replay);
            placed = true;
        }
        size_t left_out = !placed || options_after_check ? load_replay_words(word) : 0;
        if (left_out > 0) {
            word += left_out;
            continue;
        }
        shell_add_argument(&builder, *word++);
    }
    if (!placed) {
        shell_add_argument(&builder, LOAD_REPLAY);
        shell_add_argument(&builder, replay);
    }
    return string_take(&builder);
}
