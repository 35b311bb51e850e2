/* format/ci/sarif.c: see sarif.h. */
#include "format/ci/sarif.h"

#include <string.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/hash.h"
#include "format/json/writer.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* {"text": value} */
static void add_message(struct json_writer *json, const char *key, const char *value)
{
    json_writer_begin_object_member(json, key);
    json_writer_add_string(json, "text", value);
    json_writer_end_object(json);
}

static const char *level_name(const struct lint_rule *rule)
{
    return rule->level == LINT_EXCEPTION ? "error" : "warning";
}

/* ---- Locations ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

/* Percent-encodes a path for a URI: all bytes except unreserved characters and '/'. */
static void add_path(struct string_builder *uri, const char *path)
{
    for (; *path != '\0'; path++)
        if (is_plain(*path))
            string_add_char(uri, *path);
        else
            string_add_format(uri, "%%%02X", (unsigned char)*path);
}

/* A file in the repository gets a URI relative to its root; others an absolute URI, which code scanning cannot show. */
static void add_artifact_location(struct json_writer *json, const struct sarif_run *run)
{
    size_t length = strlen(run->folder);
    const char *path = run->path;
    SCOPED_STRING(uri);
    bool inside = path[0] != '/';

    if (strncmp(path, run->folder, length) == 0 && path[length] == '/') {
        path += length + 1;
        inside = true;
    }
    if (!inside)
        string_add(&uri, "file://");
    add_path(&uri, path);
    json_writer_begin_object(json);
    json_writer_add_string(json, "uri", uri.data);
    if (inside)
        json_writer_add_string(json, "uriBaseId", "%SRCROOT%");
    json_writer_end_object(json);
}

static void add_locations(struct json_writer *json, const struct sarif_run *run, const char *node)
{
    json_writer_begin_array_member(json, "locations");
    json_writer_begin_object(json);
    json_writer_begin_object_member(json, "physicalLocation");
    json_writer_key(json, "artifactLocation");
    add_artifact_location(json, run);
    json_writer_begin_object_member(json, "region");
    json_writer_add_integer(json, "startLine", 1);
    json_writer_end_object(json);
    json_writer_end_object(json);
    if (node != NULL) {
        json_writer_begin_array_member(json, "logicalLocations");
        json_writer_begin_object(json);
        json_writer_add_string(json, "name", node);
        json_writer_add_string(json, "kind", "node");
        json_writer_end_object(json);
        json_writer_end_array(json);
    }
    json_writer_end_object(json);
    json_writer_end_array(json);
}

/* ---- Rules and results ---- */

static void add_rule(struct json_writer *json, const struct lint_rule *rule)
{
    json_writer_begin_object(json);
    json_writer_add_string(json, "id", rule->id);
    add_message(json, "shortDescription", rule->summary);
    add_message(json, "fullDescription", rule->summary);
    add_message(json, "help", rule->help);
    json_writer_begin_object_member(json, "defaultConfiguration");
    json_writer_add_string(json, "level", level_name(rule));
    json_writer_end_object(json);
    json_writer_begin_object_member(json, "properties");
    json_writer_add_string(json, "problem.severity", level_name(rule));
    json_writer_end_object(json);
    json_writer_end_object(json);
}

/* Counts uses of each fingerprint: equal findings about one node are distinguished by a number. */
struct fingerprints {
    struct name_map counts;
    struct arena arena; /* owns its names */
};

static void add_fingerprint(struct json_writer *json, const struct lint_entry *entry, struct fingerprints *fingerprints)
{
    const char *node = entry->node != NULL ? entry->node : "";
    struct hash hash = hash_bytes(entry->rule->id, strlen(entry->rule->id));
    char name[HASH_TEXT_SIZE], numbered[HASH_TEXT_SIZE + 24];
    uint32_t before;

    hash = hash_combine(hash, hash_bytes(node, strlen(node)));
    hash = hash_combine(hash, hash_bytes(entry->message, strlen(entry->message)));
    hash_to_text(hash, name);
    before = name_map_find(&fingerprints->counts, text_of(name));
    before = before != NAME_MAP_NONE ? before : 0;
    name_map_set(&fingerprints->counts, text_of(arena_strdup(&fingerprints->arena, name)), before + 1);
    snprintf(numbered, sizeof(numbered), "%s:%u", name, before + 1);
    json_writer_begin_object_member(json, "partialFingerprints");
    json_writer_add_string(json, "primaryLocationLineHash", numbered);
    json_writer_end_object(json);
}

static void add_result(struct json_writer *json, const struct sarif_run *run, const struct lint_entry *entry,
                       struct fingerprints *fingerprints)
{
    SCOPED_STRING(message);

    if (entry->node != NULL) /* for readers that show no logical locations */
        string_add_format(&message, "Node '%s': ", entry->node);
    string_add(&message, entry->message + strspn(entry->message, " "));
    json_writer_begin_object(json);
    json_writer_add_string(json, "ruleId", entry->rule->id);
    json_writer_add_integer(json, "ruleIndex", entry->rule - run->rules);
    json_writer_add_string(json, "level", level_name(entry->rule));
    add_message(json, "message", message.data);
    add_locations(json, run, entry->node);
    add_fingerprint(json, entry, fingerprints);
    json_writer_end_object(json);
}

static void add_tool(struct json_writer *json, const struct sarif_run *run)
{
    json_writer_begin_object_member(json, "tool");
    json_writer_begin_object_member(json, "driver");
    json_writer_add_string(json, "name", "polygraphy check lint");
    json_writer_add_string(json, "semanticVersion", run->version);
    json_writer_begin_array_member(json, "rules");
    for (size_t i = 0; i < run->rule_count; i++)
        add_rule(json, &run->rules[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
    json_writer_end_object(json);
}

/* Records that the run completed, whatever it found. */
static void add_invocation(struct json_writer *json, const struct sarif_run *run)
{
    json_writer_begin_array_member(json, "invocations");
    json_writer_begin_object(json);
    json_writer_add_boolean(json, "executionSuccessful", true);
    json_writer_add_string(json, "commandLine", run->command);
    json_writer_end_object(json);
    json_writer_end_array(json);
}

static void write_sarif_run(struct json_writer *json, const struct sarif_run *run)
{
    struct fingerprints fingerprints;

    name_map_init(&fingerprints.counts);
    arena_init(&fingerprints.arena);
    json_writer_begin_object(json);
    add_tool(json, run);
    add_invocation(json, run);
    json_writer_begin_array_member(json, "artifacts");
    json_writer_begin_object(json);
    json_writer_key(json, "location");
    add_artifact_location(json, run);
    json_writer_begin_array_member(json, "roles");
    json_writer_string(json, "analysisTarget");
    json_writer_end_array(json);
    json_writer_end_object(json);
    json_writer_end_array(json);
    json_writer_begin_array_member(json, "results");
    for (size_t i = 0; i < run->report->entries.count; i++)
        add_result(json, run, &run->report->entries.items[i], &fingerprints);
    json_writer_end_array(json);
    json_writer_add_string(json, "columnKind", "unicodeCodePoints");
    json_writer_end_object(json);
    name_map_release(&fingerprints.counts);
    arena_release(&fingerprints.arena);
}

int sarif_save(const struct sarif_run *run, const char *path, struct error *err)
{
    struct json_writer json SCOPED(json_writer_release) = {0};
    int rc = json_writer_open(&json, path, err);

    if (rc == 0) {
        json_writer_begin_object(&json);
        json_writer_add_string(&json, "$schema", SCHEMA);
        json_writer_add_string(&json, "version", "2.1.0");
        json_writer_begin_array_member(&json, "runs");
        write_sarif_run(&json, run);
        json_writer_end_array(&json);
        json_writer_end_object(&json);
        rc = json_writer_commit(&json, FILE_DURABLE, err);
    }
    return rc < 0 ? error_context(err, "--sarif") : 0;
}
