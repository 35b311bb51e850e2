/* debug/accuracy/folder.c: see folder.h. */
#include "debug/accuracy/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/file/list.h"
#include "base/memory.h"
#include "base/system.h"
#include "debug/accuracy/inputs.h"
#include "debug/record/result_folder.h"
#include "format/json/writer.h"

#define MOST_SECONDS_OF_ORPHANS 10
#define STEPS "steps"
#define INLINED "inlined"

const char *const accuracy_results[] = {RESULT_FOLDER_MARKER, "report.html",  "report.json",  "reproduce.sh",
                                        "inputs.json",        "golden*.json", "values.*",     "layerwise.*",
                                        "suspect_*",          "timing.cache", "minimal.onnx", "minimal_*",
                                        "mixed.onnx",         "folded.onnx",  "slice.onnx",   "perturbed_*",
                                        STEPS "/*",           "inlined.onnx", INLINED "/*",   NULL};

/* ---- What the session is about ---- */

static struct hash hash_words(struct hash hash, struct words words)
{
    for (size_t i = 0; i < words.count; i++)
        hash = hash_combine(hash, hash_bytes(words.items[i], strlen(words.items[i])));
    return hash_combine(hash, hash_bytes(&words.count, sizeof(words.count)));
}

/* All that the commands of experiments are made of. */
static struct hash hash_question(const struct accuracy_settings *settings)
{
    const struct words words[] = {settings->reference, settings->suspect, settings->suspect_in_float, settings->engine,
                                  settings->loading,   settings->data,    settings->tolerance,        settings->steps};
    const int64_t numbers[] = {settings->builds, settings->runs, settings->explored_builds};
    struct hash hash = hash_bytes(settings->model, strlen(settings->model));

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        hash = hash_words(hash, words[i]);
    hash = hash_combine(hash, hash_bytes(numbers, sizeof(numbers)));
    return hash_combine(hash, hash_bytes(POLYGRAPHY_VERSION, strlen(POLYGRAPHY_VERSION)));
}

/* ---- The marker ---- */

static void write_input(const struct watched_file *file, struct json_writer *writer)
{
    char content[HASH_TEXT_SIZE];

    hash_to_text(file->identity.content, content);
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "path", file->path);
    json_writer_add_string(writer, "content", content);
    json_writer_add_boolean(writer, "sampled", file_identity_is_sampled(&file->identity));
    json_writer_end_object(writer);
}

static int write_session(const struct study *study, bool is_finished, struct error *err)
{
    char *path SCOPED_FREE = file_join(study->question->folder, RESULT_FOLDER_MARKER);
    char question[HASH_TEXT_SIZE], inputs[HASH_TEXT_SIZE];
    struct json_writer writer SCOPED(json_writer_release) = {0};
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    hash_to_text(hash_question(study->question), question);
    hash_to_text(accuracy_inputs_hash(&study->inputs), inputs);
    json_writer_begin_object(&writer);
    result_folder_write_marker("debug accuracy", &writer);
    json_writer_add_string(&writer, "question", question);
    json_writer_add_string(&writer, "inputs", inputs);
    json_writer_add_boolean(&writer, "finished", is_finished);
    json_writer_begin_array_member(&writer, "files");
    for (size_t i = 0; i < study->inputs.count; i++)
        write_input(&study->inputs.items[i], &writer);
    json_writer_end_array(&writer);
    json_writer_end_object(&writer);
    return json_writer_commit(&writer, FILE_DURABLE, err);
}

static bool says_hash(struct study_step *session, const char *key, struct hash hash)
{
    char text[HASH_TEXT_SIZE];

    hash_to_text(hash, text);
    return strcmp(step_text(session, key), text) == 0;
}

/* "'./engine.sh' has changed", for a sentence. */
static const char *describe_change(struct study_step *session)
{
    struct study *study = session->study;
    const json_t *files = result_find(session->result.root, "files"), *file;
    size_t i;

    json_array_foreach (files, i, file) {
        const char *path = result_text(session, file, "path"), *content = result_text(session, file, "content");

        for (size_t k = 0; k < study->inputs.count; k++) {
            char now[HASH_TEXT_SIZE];

            hash_to_text(study->inputs.items[k].identity.content, now);
            if (strcmp(study->inputs.items[k].path, path) == 0 && strcmp(now, content) != 0)
                return study_text(study, "'%s' has changed", path);
        }
    }
    return "files that the runners need, the processor or the environment have changed";
}

/* ---- A session before this one ---- */

static bool is_result(const char *name)
{
    for (const char *const *pattern = accuracy_results; *pattern != NULL; pattern++)
        if (text_matches_pattern(text_of(name), text_of(*pattern)))
            return true;
    return false;
}

/* What it has left goes away: results that the new session does not write would look like its own. */
static int clear_folder(const struct study *study, struct error *err)
{
    const char *folder = study->settings->folder;
    char *steps SCOPED_FREE = file_join(folder, STEPS), *inlined SCOPED_FREE = file_join(folder, INLINED);
    struct file_list files = {0};
    int rc = file_exists(steps) ? file_remove_tree(steps, err) : 0;

    if (rc == 0 && file_exists(inlined))
        rc = file_remove_tree(inlined, err);

    if (rc < 0)
        return rc;
    rc = file_list_find(&files, folder, err);
    for (size_t i = 0; rc == 0 && i < files.count; i++)
        if (is_result(files.items[i] + strlen(folder) + 1))
            rc = file_remove_tree(files.items[i], err);
    file_list_release(&files);
    return rc;
}

static int refuse_session(struct study_step *session, const char *path, const char *changed, struct error *err)
{
    const struct accuracy_settings *settings = session->study->settings;

    if (!says_hash(session, "question", hash_question(settings)))
        return error_set(err, ERR_EXISTS,
                         "'%s' belongs to a model at another path, to other options, or to another version of this "
                         "program: pass another folder with -o, or remove that one",
                         path);
    if (changed != NULL && settings->resume)
        return error_set(err, ERR_INVALID,
                         "--resume: %s since the experiments in '%s' were run; start over without --resume", changed,
                         settings->folder);
    return 0;
}

/* Whether what is kept is reused. */
static int consider_session(struct study *study, const char *path, struct error *err)
{
    struct study_step session = {.study = study};
    const char *changed = NULL, *folder = study->settings->folder;
    bool is_finished;
    int rc = json_reader_open(&session.result, path, err);

    if (rc < 0 || *step_text(&session, "question") == '\0') /* of a session that was killed at once */
        goto done;
    if (!says_hash(&session, "inputs", accuracy_inputs_hash(&study->inputs)))
        changed = describe_change(&session);
    rc = refuse_session(&session, path, changed, err);
    if (rc < 0)
        goto done;
    is_finished = step_says(&session, "finished") && !study->settings->resume;
    if (changed != NULL)
        log_message(study->log, LOG_WARNING, "%s since the experiments in '%s' were run: all of them are repeated",
                    changed, folder);
    else if (is_finished)
        log_message(study->log, LOG_INFO, "The experiments in '%s' are repeated; --resume reuses them where possible",
                    folder);
    study->is_resumed = changed == NULL && !is_finished;
done:
    json_reader_release(&session.result);
    return rc;
}

/* A session that was killed leaves processes behind which terminate a moment later (base/process/guard.h), and write in
 * its folder until then. They have inherited this lock, unlike that of the session. */
static void lock_out_orphans(struct study *study, const char *session)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double start = stopwatch_now();

    study->family_lock = open(session, O_RDONLY | O_NOCTTY);
    while (study->family_lock >= 0 && flock(study->family_lock, LOCK_EX | LOCK_NB) != 0 &&
           (errno == EINTR || errno == EWOULDBLOCK) && stopwatch_now() - start < MOST_SECONDS_OF_ORPHANS)
        nanosleep(&pause, NULL);
}

/* Neither a marker without a question, which a session that was killed at once has left, nor none. */
static int reuse_folder(struct study *study, const char *session, bool was_there, struct error *err)
{
    int rc = was_there ? consider_session(study, session, err) : 0;

    if (rc < 0)
        return rc;
    if (study->is_resumed) {
        log_message(study->log, LOG_INFO, "Resuming with the experiments in '%s'", study->settings->folder);
        return 0;
    }
    if (study->settings->resume)
        log_message(study->log, LOG_WARNING, "--resume: there is nothing to resume in '%s'", study->settings->folder);
    rc = clear_folder(study, err);
    return rc < 0 ? rc : write_session(study, false, err);
}

int accuracy_folder_open(struct study *study, struct error *err)
{
    const char *session = study_path(study, RESULT_FOLDER_MARKER);
    bool was_there = file_exists(session);
    int rc = accuracy_inputs_find(study->settings, &study->inputs, err);

    if (rc < 0)
        return rc;
    rc = result_folder_begin(study->settings->folder, "debug accuracy", err);
    if (rc < 0)
        return rc;
    rc = session_lock_take(&study->lock, session, "keeps its experiments next to", "-o", study->log, err);
    if (rc < 0)
        return rc;
    lock_out_orphans(study, session);
    rc = reuse_folder(study, session, was_there, err);
    if (rc == 0 && !study->is_resumed) { /* the marker is another file now */
        if (study->family_lock >= 0)
            close(study->family_lock);
        lock_out_orphans(study, session);
    }
    return rc;
}

int accuracy_folder_finish(struct study *study, struct error *err)
{
    return write_session(study, true, err);
}
