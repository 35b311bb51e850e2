/* format/polygraphy/debug_replay.c: reads and writes debug replays. */
#include "format/polygraphy/debug_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/json/class.h"
#include "format/json/reader.h"
#include "format/json/writer.h"

#define SESSION_KEY "_session"

void debug_replay_init(struct debug_replay *replay)
{
    *replay = (struct debug_replay){0};
    string_init(&replay->text);
}

void debug_replay_release(struct debug_replay *replay)
{
    for (size_t i = 0; i < replay->count; i++)
        free(replay->items[i].key);
    free(replay->items);
    string_release(&replay->text);
    debug_replay_init(replay);
}

/* Searches backwards: usually a recent entry is wanted. */
static struct replay_entry *find_replay_entry(const struct debug_replay *replay, const char *key)
{
    for (size_t i = replay->count; i-- > 0;)
        if (strcmp(replay->items[i].key, key) == 0)
            return &replay->items[i];
    return NULL;
}

const struct replay_entry *debug_replay_find(const struct debug_replay *replay, const char *key)
{
    return find_replay_entry(replay, key);
}

/* --- the text of entries ------------------------------------------------------------------------------------------ */

/* A member of the file's object is written as an object with a single member; these functions remove the surrounding
 * "{", line break and "}". */
static void begin_member(struct json_writer *writer, const char *key)
{
    json_writer_init(writer);
    json_writer_begin_object(writer);
    json_writer_key(writer, key);
}

static struct text end_member(struct json_writer *writer)
{
    json_writer_end_object(writer);
    return (struct text){writer->text.data + 1, writer->text.size - 3};
}

static void write_context(struct json_writer *writer, const struct replay_entry *entry)
{
    json_writer_begin_object(writer);
    json_writer_begin_object_member(writer, "state");
    if (entry->num_nodes >= 0)
        json_writer_add_integer(writer, "num_nodes", entry->num_nodes);
    json_writer_end_object(writer);
    json_writer_begin_object_member(writer, "iteration_info");
    json_writer_add_integer(writer, "iteration", entry->iteration);
    json_writer_end_object(writer);
    json_writer_add_boolean(writer, "success", entry->success);
    if (entry->skipped)
        json_writer_add_boolean(writer, "skipped", true);
    if (entry->runs > 0) {
        json_writer_add_integer(writer, "runs", entry->runs);
        json_writer_add_integer(writer, "fails", entry->fails);
    }
    json_writer_add_string(writer, "polygraphy_class", "IterationContext");
    json_writer_end_object(writer);
}

static size_t append_text(struct debug_replay *replay, struct text text)
{
    if (replay->text.size > 0)
        string_add_char(&replay->text, ',');
    string_add_text(&replay->text, text);
    return replay->text.size - text.size;
}

/* Replaces the text of `entry`. Later entries are moved; usually there are none. */
static void replace_text(struct debug_replay *replay, struct replay_entry *entry, struct text text)
{
    size_t end = entry->text_offset + entry->text_size;
    size_t tail_size = replay->text.size - end;
    char *tail SCOPED_FREE = memory_copy(replay->text.data + end, tail_size);

    string_truncate(&replay->text, entry->text_offset);
    string_add_text(&replay->text, text);
    string_add_bytes(&replay->text, tail, tail_size);
    for (size_t i = 0; i < replay->count; i++)
        if (replay->items[i].text_offset >= end)
            replay->items[i].text_offset += text.size - entry->text_size;
    entry->text_size = text.size;
}

void debug_replay_set(struct debug_replay *replay, const char *key, const struct replay_entry *verdict)
{
    struct replay_entry *entry = find_replay_entry(replay, key);
    struct json_writer writer SCOPED(json_writer_release) = {0};
    struct text text;

    begin_member(&writer, key);
    write_context(&writer, verdict);
    text = end_member(&writer);
    if (entry) {
        replace_text(replay, entry, text);
    } else {
        entry = VECTOR_APPEND(replay);
        *entry = (struct replay_entry){
            .key = memory_strdup(key), .text_offset = append_text(replay, text), .text_size = text.size};
    }
    entry->iteration = verdict->iteration;
    entry->num_nodes = verdict->num_nodes;
    entry->success = verdict->success;
    entry->skipped = verdict->skipped;
    entry->runs = verdict->runs;
    entry->fails = verdict->fails;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_hash(struct json_reader *reader, json_t *value, char ret[HASH_TEXT_SIZE], struct error *err)
{
    struct text text;
    int rc = json_reader_text(reader, value, &text, err);

    if (rc == 0 && text.size != HASH_TEXT_SIZE - 1)
        rc = error_set(err, ERR_CORRUPT, "expected a hash of %d digits, got %zu", HASH_TEXT_SIZE - 1, text.size);
    if (rc == 0)
        memcpy(ret, text.data, HASH_TEXT_SIZE);
    return rc;
}

static int read_session(struct json_reader *reader, json_t *object, struct debug_replay *replay, struct error *err)
{
    const json_t *code, *reason;

    if (read_hash(reader, json_object_get(object, "model"), replay->model_hash, err) < 0)
        return error_context(err, "model");
    if (read_hash(reader, json_object_get(object, "check"), replay->check_hash, err) < 0)
        return error_context(err, "check");
    replay->has_session = true;
    code = json_object_get(object, "failure_code");
    if (code != NULL && !json_is_integer(code))
        return error_set(err, ERR_CORRUPT, "'failure_code' is not a number");
    replay->has_failure_code = code != NULL;
    replay->failure_code = json_integer_value(code);
    reason = json_object_get(object, "failure_reason");
    if (reason != NULL && (!json_is_string(reason) || json_string_length(reason) >= sizeof(replay->failure_reason)))
        return error_set(err, ERR_CORRUPT, "'failure_reason' is not a short text");
    snprintf(replay->failure_reason, sizeof(replay->failure_reason), "%s",
             reason != NULL ? json_string_value(reason) : "");
    return 0;
}

static int read_runs(json_t *object, struct replay_entry *entry, struct error *err)
{
    json_t *runs = json_object_get(object, "runs"), *fails = json_object_get(object, "fails");

    if (!runs && !fails)
        return 0;
    if (!json_is_integer(runs) || !json_is_integer(fails) || json_integer_value(fails) < 0 ||
        json_integer_value(fails) > json_integer_value(runs))
        return error_set(err, ERR_CORRUPT, "'runs' and 'fails' are not valid numbers of runs of the check");
    entry->runs = json_integer_value(runs);
    entry->fails = json_integer_value(fails);
    return 0;
}

static int read_context(json_t *object, struct replay_entry *entry, struct error *err)
{
    json_t *num_nodes = json_object_get(json_object_get(object, "state"), "num_nodes");
    json_t *iteration = json_object_get(json_object_get(object, "iteration_info"), "iteration");
    json_t *success = json_object_get(object, "success");

    if (!json_is_boolean(success))
        return error_set(err, ERR_CORRUPT, "the verdict 'success' is neither true nor false");
    if (!json_is_integer(iteration) || json_integer_value(iteration) < 0)
        return error_set(err, ERR_CORRUPT, "the number 'iteration' of the iteration info is missing");
    if (num_nodes && (!json_is_integer(num_nodes) || json_integer_value(num_nodes) < 0))
        return error_set(err, ERR_CORRUPT, "'num_nodes' is not a number of nodes");
    entry->success = json_is_true(success);
    entry->skipped = entry->success && json_is_true(json_object_get(object, "skipped"));
    entry->iteration = json_integer_value(iteration);
    entry->num_nodes = num_nodes ? json_integer_value(num_nodes) : -1;
    return read_runs(object, entry, err);
}

/* Reads one member of the file. Members other than the session and verdicts are only kept as text; their names must not
 * begin with '_', like those of verdicts. */
static int read_member(struct json_reader *reader, const char *key, json_t *value, struct debug_replay *replay,
                       struct error *err)
{
    struct replay_entry *entry = NULL;
    struct json_writer writer SCOPED(json_writer_release) = {0};
    struct text text;
    size_t offset;
    int rc;

    if (strcmp(key, SESSION_KEY) == 0)
        return read_session(reader, value, replay, err);
    if (json_class_of(reader, value) != JSON_CLASS_ITERATION_CONTEXT) {
        if (key[0] == '_')
            return error_set(err, ERR_CORRUPT, "expected an IterationContext, found %s",
                             json_class_describe(reader, value));
    } else {
        entry = VECTOR_APPEND(replay);
        *entry = (struct replay_entry){.key = memory_strdup(key)};
        rc = read_context(value, entry, err);
        if (rc < 0)
            return rc;
    }
    begin_member(&writer, key);
    rc = json_writer_value(&writer, reader, value, err);
    if (rc == 0) {
        text = end_member(&writer);
        offset = append_text(replay, text);
        if (entry) {
            entry->text_offset = offset;
            entry->text_size = text.size;
        }
    }
    return rc;
}

static int read_members(struct json_reader *reader, struct debug_replay *ret, struct error *err)
{
    const char *key;
    json_t *value;
    int rc = json_class_check_all(reader, err);

    if (rc < 0)
        return rc;
    if (!json_is_object(reader->root) || json_class_of(reader, reader->root) != JSON_CLASS_NONE)
        return error_set(err, ERR_INVALID, "'%s' contains %s, not a debug replay", reader->name,
                         json_class_describe(reader, reader->root));
    json_object_foreach (reader->root, key, value) {
        if (read_member(reader, key, value, ret, err) < 0)
            return error_context(err, "'%s': entry '%s'", reader->name, key);
    }
    return 0;
}

/* Reads the open file, closes the reader, and replaces `replay` on success. `rc` is the result of opening it. */
static int read_debug_replay(struct debug_replay *replay, struct json_reader *reader, int rc, struct error *err)
{
    struct debug_replay loaded;

    if (rc < 0)
        return rc;
    debug_replay_init(&loaded);
    rc = read_members(reader, &loaded, err);
    json_reader_release(reader);
    if (rc < 0) {
        debug_replay_release(&loaded);
        return rc;
    }
    debug_replay_release(replay);
    *replay = loaded;
    return 0;
}

int debug_replay_load(struct debug_replay *replay, const char *path, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open(&reader, path, err);

    return read_debug_replay(replay, &reader, rc, err);
}

int debug_replay_parse(struct debug_replay *replay, const void *data, size_t size, const char *name, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, data, size, name, err);

    return read_debug_replay(replay, &reader, rc, err);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The session is written first, so that it is visible at the top of the file. */
static void add_session(const struct debug_replay *replay, struct string_builder *head)
{
    struct json_writer writer SCOPED(json_writer_release) = {0};

    begin_member(&writer, SESSION_KEY);
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "model", replay->model_hash);
    json_writer_add_string(&writer, "check", replay->check_hash);
    if (replay->has_failure_code)
        json_writer_add_integer(&writer, "failure_code", replay->failure_code);
    if (replay->failure_reason[0] != '\0')
        json_writer_add_string(&writer, "failure_reason", replay->failure_reason);
    json_writer_end_object(&writer);
    string_add_text(head, end_member(&writer));
    if (replay->text.size > 0)
        string_add_char(head, ',');
}

int debug_replay_save(const struct debug_replay *replay, const char *path, struct error *err)
{
    struct file_writer file SCOPED(file_writer_release) = {0};
    SCOPED_STRING(head);
    const char *tail = replay->has_session || replay->text.size > 0 ? "\n}" : "}";
    int rc;

    rc = file_writer_open(&file, path, err);
    if (rc < 0)
        return rc;
    string_add_char(&head, '{');
    if (replay->has_session)
        add_session(replay, &head);
    rc = file_writer_add(&file, head.data, head.size, err);
    if (rc < 0)
        return rc;
    rc = file_writer_add(&file, replay->text.data, replay->text.size, err);
    if (rc < 0)
        return rc;
    rc = file_writer_add(&file, tail, strlen(tail), err);
    if (rc < 0)
        return rc;
    return file_writer_commit(&file, FILE_INTERMEDIATE, err);
}

/* As Python's os.path.splitext(): leading dots of the file name do not start an extension. */
char *debug_replay_skip_current_path(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *extension = strrchr(name + strspn(name, "."), '.');
    struct string_builder ret;

    if (!extension)
        extension = name + strlen(name);
    string_init(&ret);
    string_add_bytes(&ret, path, (size_t)(extension - path));
    string_add(&ret, "_skip_current");
    string_add(&ret, extension);
    return string_take(&ret);
}

/* --- iteration info ----------------------------------------------------------------------------------------------- */

int iteration_info_save(const char *path, int64_t index, struct error *err)
{
    struct json_writer writer SCOPED(json_writer_release) = {0};

    json_writer_init(&writer);
    json_writer_begin_object(&writer);
    json_writer_add_integer(&writer, "iteration", index);
    json_writer_end_object(&writer);
    return file_write(path, writer.text.data, writer.text.size, FILE_INTERMEDIATE, err);
}

bool iteration_info_may_replace(const char *path)
{
    struct stat status;
    long long index;
    size_t size;
    char *text SCOPED_FREE = NULL;
    int end = 0;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return true;
    if (file_read(path, 4096, &text, &size, NULL) < 0)
        return false;
    return sscanf(text, " { \"iteration\" : %lld } %n", &index, &end) == 1 && end > 0 && (size_t)end == size;
}
