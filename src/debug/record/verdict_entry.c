/* debug/record/verdict_entry.c: see verdict_entry.h. */
#include "debug/record/verdict_entry.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/json/reader.h"
#include "format/json/writer.h"

#define MAGIC_KEY "polygraphy_verdict"
#define VERSION 1
#define MOST_RUNS ((json_int_t)1 << 40) /* far more than possible, so that sums do not overflow */

static const char *const verdict_names[] = {[VERDICT_PASS] = "pass", [VERDICT_FAIL] = "fail", [VERDICT_SKIP] = "skip"};

/* ---- Reading ---- */

static int take_text(struct json_reader *reader, const char *key, char *ret, size_t size, struct error *err)
{
    struct text text;
    int rc = json_reader_text(reader, json_object_get(reader->root, key), &text, err);

    if (rc == 0 && text.size >= size)
        rc = error_set(err, ERR_CORRUPT, "it is too long");
    if (rc < 0)
        return error_context(err, "'%s'", key);
    memcpy(ret, text.data, text.size);
    ret[text.size] = '\0';
    return 0;
}

static int take_hash(struct json_reader *reader, const char *key, char ret[HASH_TEXT_SIZE], struct error *err)
{
    int rc = take_text(reader, key, ret, HASH_TEXT_SIZE, err);

    if (rc == 0 && (strlen(ret) != HASH_TEXT_SIZE - 1 || strspn(ret, "0123456789abcdef") != HASH_TEXT_SIZE - 1))
        rc = error_set(err, ERR_CORRUPT, "'%s' is not 32 hexadecimal digits", key);
    return rc;
}

static int take_verdict(struct json_reader *reader, enum verdict *ret, struct error *err)
{
    char name[8] = "";
    int rc = take_text(reader, "verdict", name, sizeof(name), err);

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(verdict_names); i++)
        if (strcmp(name, verdict_names[i]) == 0) {
            *ret = (enum verdict)i;
            return 0;
        }
    return rc < 0 ? rc : error_set(err, ERR_CORRUPT, "'verdict' is not pass, fail or skip");
}

/* An optional member; `ret` is unchanged if it is missing. */
static int take_integer(const struct json_reader *reader, const char *key, json_int_t least, json_int_t most,
                        json_int_t *ret, struct error *err)
{
    const json_t *value = json_object_get(reader->root, key);

    if (value == NULL)
        return 0;
    if (!json_is_integer(value) || json_integer_value(value) < least || json_integer_value(value) > most)
        return error_set(err, ERR_CORRUPT, "'%s' is not an integer between %lld and %lld", key, (long long)least,
                         (long long)most);
    *ret = json_integer_value(value);
    return 0;
}

static int take_numbers(const struct json_reader *reader, struct cached_verdict *ret, struct error *err)
{
    json_int_t code = 0, runs = 0, fails = 0;
    int rc = take_integer(reader, "exit_code", INT_MIN, INT_MAX, &code, err);

    if (rc == 0)
        rc = take_integer(reader, "runs", 0, MOST_RUNS, &runs, err);
    if (rc == 0)
        rc = take_integer(reader, "fails", 0, runs, &fails, err);
    if (rc < 0)
        return rc;
    ret->runs = (size_t)runs;
    ret->fails = (size_t)fails;
    ret->has_code = json_object_get(reader->root, "exit_code") != NULL;
    ret->code = (int)code;
    return 0;
}

static int take_version(const struct json_reader *reader, struct error *err)
{
    const json_t *version = json_is_object(reader->root) ? json_object_get(reader->root, MAGIC_KEY) : NULL;

    if (!json_is_integer(version))
        return error_set(err, ERR_CORRUPT, "not a valid verdict: '" MAGIC_KEY "' is missing");
    if (json_integer_value(version) != VERSION)
        return error_set(err, ERR_UNSUPPORTED, "unsupported format version %lld (expected %d)",
                         (long long)json_integer_value(version), VERSION);
    return 0;
}

int verdict_entry_parse(const void *data, size_t size, const char *name, struct verdict_entry *ret, struct error *err)
{
    struct verdict_entry entry = {.verdict.found = true};
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc;

    if (size > VERDICT_ENTRY_LARGEST)
        return error_set(err, ERR_CORRUPT, "%s: not a valid verdict: %zu bytes", name, size);
    rc = json_reader_open_memory(&reader, data, size, name, err);
    if (rc < 0) /* names the file */
        return rc;
    rc = take_version(&reader, err);
    if (rc < 0)
        goto done;
    rc = take_text(&reader, "program", entry.program, sizeof(entry.program), err);
    if (rc < 0)
        goto done;
    rc = take_hash(&reader, "check", entry.check, err);
    if (rc < 0)
        goto done;
    rc = take_hash(&reader, "content", entry.content, err);
    if (rc < 0)
        goto done;
    rc = take_verdict(&reader, &entry.verdict.verdict, err);
    if (rc < 0)
        goto done;
    rc = take_numbers(&reader, &entry.verdict, err);
    if (rc < 0)
        goto done;
    if (json_object_get(reader.root, "reason") != NULL)
        rc = take_text(&reader, "reason", entry.verdict.reason, sizeof(entry.verdict.reason), err);
done:
    if (rc < 0)
        return error_context(err, "%s", name);
    *ret = entry;
    return 0;
}

/* ---- Checksum ---- */

#define SEAL_FORMAT ",\n    \"checksum\": \"%s\"\n}"
#define SEAL_LENGTH (sizeof(SEAL_FORMAT) - 1 - 2 + HASH_TEXT_SIZE - 1)

static void make_seal(const void *data, size_t size, char ret[SEAL_LENGTH + 1])
{
    char checksum[HASH_TEXT_SIZE];

    hash_to_text(hash_bytes(data, size), checksum);
    snprintf(ret, SEAL_LENGTH + 1, SEAL_FORMAT, checksum);
}

void verdict_entry_seal(struct string_builder *text)
{
    char seal[SEAL_LENGTH + 1];
    size_t size = text->size;

    while (size > 0 && strchr("\n }", text->data[size - 1]) != NULL)
        size--;
    string_truncate(text, size);
    make_seal(text->data, size, seal);
    string_add(text, seal);
}

bool verdict_entry_is_sealed(const void *data, size_t size)
{
    char seal[SEAL_LENGTH + 1];

    if (size < SEAL_LENGTH)
        return false;
    make_seal(data, size - SEAL_LENGTH, seal);
    return memcmp((const char *)data + size - SEAL_LENGTH, seal, SEAL_LENGTH) == 0;
}

/* ---- Writing ---- */

void verdict_entry_write(const struct verdict_entry *entry, struct string_builder *ret)
{
    const struct cached_verdict *verdict = &entry->verdict;
    struct json_writer writer SCOPED(json_writer_release) = {0};

    json_writer_init(&writer);
    json_writer_begin_object(&writer);
    json_writer_add_integer(&writer, MAGIC_KEY, VERSION);
    json_writer_add_string(&writer, "program", entry->program);
    json_writer_add_string(&writer, "check", entry->check);
    json_writer_add_string(&writer, "content", entry->content);
    json_writer_add_string(&writer, "verdict", verdict_names[verdict->verdict]);
    if (verdict->has_code)
        json_writer_add_integer(&writer, "exit_code", verdict->code);
    if (verdict->reason[0] != '\0')
        json_writer_add_string(&writer, "reason", verdict->reason);
    if (verdict->runs > 0) {
        json_writer_add_integer(&writer, "runs",
                                verdict->runs < (size_t)MOST_RUNS ? (int64_t)verdict->runs : MOST_RUNS);
        json_writer_add_integer(&writer, "fails",
                                verdict->fails < (size_t)MOST_RUNS ? (int64_t)verdict->fails : MOST_RUNS);
    }
    json_writer_end_object(&writer);
    verdict_entry_seal(&writer.text);
    string_add_bytes(ret, writer.text.data, writer.text.size);
}
