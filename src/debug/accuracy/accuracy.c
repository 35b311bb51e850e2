/* debug/accuracy/accuracy.c: the order of the questions. See accuracy.h. */
#include "debug/accuracy/accuracy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/file.h>
#include <time.h>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/system.h"
#include "debug/accuracy/questions.h"
#include "format/data/word.h"
#include "format/json/writer.h"
#include "onnx/external/data.h"
#include "onnx/model/subgraph.h"

#define MOST_SECONDS_OF_ORPHANS 10

/* ---- The folder ---- */

/* Its path, size and time of change: what lies there may be large. */
static struct hash hash_stat(struct hash hash, const char *path)
{
    struct stat status;

    hash = hash_combine(hash, hash_bytes(path, strlen(path)));
    if (stat(path, &status) < 0)
        return hash;
    hash = hash_combine(hash, hash_bytes(&status.st_size, sizeof(status.st_size)));
    return hash_combine(hash, hash_bytes(&status.st_mtim, sizeof(status.st_mtim)));
}

/* The words, and the files that they name: input data, plug-ins; but for a cache that is written on the way. */
static struct hash hash_words(struct hash hash, struct words words)
{
    for (size_t i = 0; i < words.count; i++) {
        struct file_list files = {0};

        hash = hash_combine(hash, hash_bytes(words.items[i], strlen(words.items[i])));
        if (i == 0 || strcmp(words.items[i - 1], "--calibration-cache") != 0)
            data_word_list_files(words.items[i], &files);
        for (size_t k = 0; k < files.count; k++)
            hash = hash_stat(hash, files.items[k]);
        file_list_release(&files);
    }
    return hash_combine(hash, hash_bytes(&words.count, sizeof(words.count)));
}

static int hash_model(const char *path, struct hash *ret, struct error *err)
{
    struct text_list locations = {0};
    struct subgraph whole;
    struct model *model;
    int rc = hash_file(path, ret, err);

    if (rc == 0)
        rc = model_open(path, NULL, &model, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *data;

            if (external_data_path(model, locations.items[i], &data, NULL) < 0)
                continue; /* who needs it says so */
            *ret = hash_stat(*ret, data);
            free(data);
        }
    free(locations.items);
    subgraph_release(&whole);
    model_free(model);
    return 0;
}

/* What experiments belong to: the model, and everything that their commands are made of. */
static int identify(const struct accuracy_settings *settings, char ret[HASH_TEXT_SIZE], struct error *err)
{
    const struct words words[] = {settings->reference, settings->suspect, settings->suspect_in_float, settings->engine,
                                  settings->loading,   settings->data,    settings->tolerance};
    const int64_t numbers[] = {settings->builds, settings->runs, settings->explored_builds};
    struct hash hash;
    int rc = hash_model(settings->model, &hash, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        hash = hash_words(hash, words[i]);
    hash = hash_combine(hash, hash_bytes(numbers, sizeof(numbers)));
    hash = hash_combine(hash, hash_bytes(POLYGRAPHY_VERSION, strlen(POLYGRAPHY_VERSION)));
    hash_to_text(hash, ret);
    return 0;
}

static int write_session(const char *path, const char *identity, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_integer(&writer, "polygraphy_accuracy", 1);
    json_writer_add_string(&writer, "question", identity);
    json_writer_end_object(&writer);
    rc = json_writer_commit(&writer, FILE_DURABLE, err);
    json_writer_release(&writer);
    return rc;
}

static int read_session(const char *path, const char *identity, struct error *err)
{
    struct experiment session = {0};
    int rc = json_reader_open(&session.result, path, err);

    if (rc == 0 && strcmp(result_text(&session, session.result.root, "question"), identity) != 0)
        rc = error_set(err, ERR_EXISTS,
                       "'%s' is from another model, or from a question with other options, or of another version of "
                       "this program: give another folder with -o, or remove that one",
                       path);
    json_reader_release(&session.result);
    return rc;
}

static bool folder_is_empty(const char *path)
{
    DIR *folder = opendir(path);
    size_t entries = 0;

    if (folder == NULL)
        return false;
    while (readdir(folder) != NULL)
        entries++;
    closedir(folder);
    return entries <= 2; /* "." and ".." */
}

/* A session that was killed leaves processes behind which end a moment later (base/process/guard.h), and write in its
 * folder until then. They have inherited this lock, unlike that of the session. */
static void lock_out_family(struct investigation *investigation, const char *session)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double start = stopwatch_now();

    investigation->family_lock = open(session, O_RDONLY | O_NOCTTY);
    while (investigation->family_lock >= 0 && flock(investigation->family_lock, LOCK_EX | LOCK_NB) != 0 &&
           (errno == EINTR || errno == EWOULDBLOCK) && stopwatch_now() - start < MOST_SECONDS_OF_ORPHANS)
        nanosleep(&pause, NULL);
}

static int open_folder(struct investigation *investigation, struct error *err)
{
    const char *folder = investigation->settings->folder;
    const char *session = investigation_path(investigation, "session.json");
    char identity[HASH_TEXT_SIZE];
    bool goes_on;
    int rc = identify(investigation->settings, identity, err);

    if (rc < 0)
        return rc;
    goes_on = file_exists(session);
    if (goes_on) {
        rc = read_session(session, identity, err);
    } else if (file_exists(folder) && !folder_is_empty(folder)) {
        rc = error_set(err, ERR_EXISTS, "'%s' is there already, and not of debug accuracy: give another folder with -o",
                       folder);
    } else {
        rc = file_make_folders(folder, err);
        if (rc == 0)
            rc = write_session(session, identity, err);
    }
    if (rc < 0)
        return rc;
    rc =
        session_lock_take(&investigation->lock, session, "keeps its experiments beside", "-o", investigation->log, err);
    if (rc < 0)
        return rc;
    lock_out_family(investigation, session);
    if (goes_on)
        log_message(investigation->log, LOG_INFO, "Going on with what is kept in '%s'", folder);
    return 0;
}

int accuracy_begin(const struct accuracy_settings *settings, struct log *log, struct investigation **ret,
                   struct error *err)
{
    struct investigation *investigation = memory_alloc_zero(1, sizeof(*investigation));
    struct call call;
    int rc;

    *investigation = (struct investigation){.settings = settings,
                                            .log = log,
                                            .start = stopwatch_now(),
                                            .lock = {.fd = -1},
                                            .family_lock = -1,
                                            .verdict = ""};
    arena_init(&investigation->arena);
    rc = open_folder(investigation, err);
    if (rc < 0) {
        investigation_free(investigation);
        return rc;
    }
    process_guard_start();
    call_begin_words(&call, investigation);
    call_add_words(&call, settings->reference);
    call_add_words(&call, settings->suspect);
    investigation->server =
        fork_server_start(settings->self_main, settings->self_prepare, (void *)call_keep(&call).items);
    *ret = investigation;
    return 0;
}

/* ---- The way ---- */

static bool always(const struct investigation *investigation)
{
    (void)investigation;
    return true;
}

/* What is seen of one run holds for all of them. */
static bool runs_and_fails(const struct investigation *investigation)
{
    return investigation->occurrence == OCCURS_ALWAYS && !investigation->refused;
}

static bool always_fails_against_onnxrt(const struct investigation *investigation)
{
    return runs_and_fails(investigation) && investigation->settings->reference_is_onnxrt;
}

/* What does not even run has no lower precision to be wrong in, and a race is no matter of rounding. */
static bool fails_in_lower_precision(const struct investigation *investigation)
{
    return investigation->settings->suspect_in_float.count > 0 && !investigation->refused &&
           investigation->occurrence != OCCURS_BY_RUN;
}

static bool builds_differ_in_lower_precision(const struct investigation *investigation)
{
    return investigation->occurrence == OCCURS_BY_BUILD && fails_in_lower_precision(investigation);
}

static bool builds_differ(const struct investigation *investigation)
{
    return investigation->occurrence == OCCURS_BY_BUILD && !investigation->refused &&
           investigation->settings->suspect_is_builtin;
}

/* Nodes were blamed, and the built-in engine may have other kernels for them. */
static bool nodes_are_blamed(const struct investigation *investigation)
{
    enum cause_kind kind = investigation->cause.kind;

    return (kind == CAUSE_NODE || kind == CAUSE_PART || kind == CAUSE_RACE) && investigation->minimal.model != NULL &&
           investigation->settings->suspect_is_builtin;
}

/* Of what was found, or was not, a simpler model may be rid. */
static bool lacks_a_mend(const struct investigation *investigation)
{
    enum cause_kind kind = investigation->cause.kind;

    return investigation->occurrence == OCCURS_ALWAYS && investigation->cause.mend.what == NULL &&
           (kind == CAUSE_UNKNOWN || kind == CAUSE_NODE || kind == CAUSE_PART || kind == CAUSE_REFUSED);
}

static bool is_open(const struct investigation *investigation)
{
    return investigation->outcome == OUTCOME_OPEN;
}

static bool has_no_cause(const struct investigation *investigation)
{
    return is_open(investigation) && investigation->cause.kind == CAUSE_UNKNOWN;
}

struct question {
    bool (*applies)(const struct investigation *investigation);
    int (*ask)(struct investigation *investigation, struct error *err);
};

/* The flowchart. A question whose outcome ends it, or that has found a cause, is the last one. */
static const struct question questions[] = {
    {always, accuracy_ask_question},
    {always, accuracy_ask_occurrence},
    {runs_and_fails, accuracy_ask_saturation},
    {always_fails_against_onnxrt, accuracy_ask_optimizations},
    {builds_differ_in_lower_precision, accuracy_ask_range},
    {builds_differ, accuracy_ask_tactics},
    {fails_in_lower_precision, accuracy_ask_precision},
    {runs_and_fails, accuracy_ask_layers},
    {always, accuracy_ask_reduction},
};

/* What is asked of what was found. */
static const struct question afterwards[] = {
    {nodes_are_blamed, accuracy_ask_kernel},
    {lacks_a_mend, accuracy_ask_simplified},
};

static int ask(struct investigation *investigation, const struct question *list, size_t count,
               bool (*goes_on)(const struct investigation *investigation), struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count && goes_on(investigation); i++)
        if (list[i].applies(investigation))
            rc = list[i].ask(investigation, err);
    return rc;
}

static int find_out(struct investigation *investigation, struct error *err)
{
    int rc = ask(investigation, questions, ARRAY_LEN(questions), has_no_cause, err);

    if (rc == 0)
        rc = ask(investigation, afterwards, ARRAY_LEN(afterwards), is_open, err);
    if (rc < 0 || investigation->outcome != OUTCOME_OPEN)
        return rc;
    if (investigation->cause.kind != CAUSE_UNKNOWN)
        return accuracy_prove(investigation, err);
    investigation_conclude(investigation, OUTCOME_NO_CAUSE,
                           investigation->refused ? "The suspect does not run the model, and no cause was found"
                                                  : "It fails, and no cause was found");
    return 0;
}

int accuracy_run(struct investigation *investigation, struct error *err)
{
    int rc = find_out(investigation, err);

    if (rc == ERR_INTERRUPTED)
        investigation_conclude(investigation, OUTCOME_NO_CAUSE, "Interrupted: this is what is known so far");
    if (rc < 0 && investigation->out_of_budget) {
        investigation_conclude(investigation, OUTCOME_NO_CAUSE,
                               "The budget (--deadline, --max-checks) is used up: this is what is known so far");
        return 0;
    }
    /* An experiment that cannot be made is no reason to lose what the others have shown. */
    if (rc < 0 && rc != ERR_INTERRUPTED && rc != ERR_IO && investigation->experiments.count > 0) {
        investigation_conclude(investigation, OUTCOME_NO_CAUSE, "It cannot go on: %s", err->message);
        return 0;
    }
    return rc;
}
