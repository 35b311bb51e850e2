/* backend/trtexec/installation.c: see installation.h. */
#include "backend/trtexec/installation.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/process/process.h"

#define LONGEST_HELP ((size_t)1 << 20)
#define SECONDS_FOR_HELP 60
#define LONGEST_LINE 400 /* bytes of what goes into a message */

/* ---- Asking ---- */

/* With the first line of what it has to say. */
static int explain(const char *path, const struct process_result *result, struct error *err)
{
    struct text said = {result->error_out.data, result->error_out.size};
    const char *end = said.size > 0 ? memchr(said.data, '\n', said.size) : NULL;
    struct string_builder text;
    int rc;

    said.size = end != NULL ? (size_t)(end - said.data) : said.size;
    said.size = said.size > LONGEST_LINE ? LONGEST_LINE : said.size;
    string_init(&text);
    string_add_visible(&text, said);
    rc = error_set(err, ERR_BACKEND, "'%s --help' %s: is it NVIDIA's trtexec, and are its libraries there?%s%s", path,
                   result->end == PROCESS_EXITED      ? "fails"
                   : result->end == PROCESS_TIMED_OUT ? "does not end"
                                                      : "crashes",
                   text.size > 0 ? " It says: " : "", text.data);
    string_release(&text);
    return rc;
}

static int ask_program(const char *path, struct process_output *ret, struct error *err)
{
    const char *const arguments[] = {path, "--help", NULL};
    const char *const environment[] = {"TRT_INTERNAL_OPTIONS", NULL};
    const struct process_request request = {
        .arguments = arguments,
        .program = path,
        .environment = environment,
        .timeout = SECONDS_FOR_HELP,
        .without_input = true,
    };
    struct process_result result;
    int rc = process_run(&request, &result, err);

    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = explain(path, &result, err);
    if (rc == 0) {
        *ret = result.out;
        result.out = (struct process_output){.fd = -1};
    }
    process_result_release(&result);
    return rc;
}

/* ---- What was asked before ----
 *
 * A line that says of which file it was asked, the lines of the help that matter, a last line. */

#define LAST_LINE "end of what it said\n"

static void add_key(const char *path, const struct stat *status, struct string_builder *ret)
{
    string_add_format(ret, "polygraphy-trtexec 1 %lld %lld.%09ld %s\n", (long long)status->st_size,
                      (long long)status->st_mtim.tv_sec, (long)status->st_mtim.tv_nsec, path);
}

char *trtexec_cache_path(const char *name)
{
    const char *folder = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct string_builder ret;

    string_init(&ret);
    if (folder != NULL && folder[0] == '/')
        string_add(&ret, folder);
    else if (home != NULL && home[0] == '/')
        string_add_format(&ret, "%s/.cache", home);
    else
        return NULL;
    string_add_format(&ret, "/polygraphy/trtexec-%s", name);
    return string_take(&ret);
}

/* NULL where nothing is kept: of a script, say, which starts what others may change. */
static char *cache_path(const char *path)
{
    static const char compiled[] = "\177ELF";
    char start[sizeof(compiled) - 1], text[HASH_TEXT_SIZE];

    if (file_read_start(path, start, sizeof(start)) != sizeof(start) || memcmp(start, compiled, sizeof(start)) != 0)
        return NULL;
    hash_to_text(hash_bytes(path, strlen(path)), text);
    text[16] = '\0';
    return trtexec_cache_path(text);
}

/* False unless the whole file is there, and of this program. */
static bool remember(const char *cache, const char *path, struct text key, struct trtexec *ret)
{
    size_t size, last = sizeof(LAST_LINE) - 1;
    bool known = false;
    char *data;

    if (cache == NULL || file_read(cache, LONGEST_HELP, &data, &size, NULL) < 0)
        return false;
    if (size >= key.size + last && memcmp(data, key.data, key.size) == 0 &&
        memcmp(data + size - last, LAST_LINE, last) == 0)
        known = trtexec_parse_help(path, (struct text){data + key.size, size - key.size - last}, ret, NULL) == 0;
    free(data);
    return known;
}

/* Where that fails it is asked again the next time. */
static void note(const char *cache, struct text key, const struct trtexec *program)
{
    struct string_builder text;

    string_init(&text);
    string_add_text(&text, key);
    string_add_format(&text, "&&&& RUNNING TensorRT.trtexec [TensorRT v%d]\n",
                      program->major < 10 ? program->major * 1000 + program->minor * 100 + program->patch
                                          : program->major * 10000 + program->minor * 100 + program->patch);
    for (size_t i = 0; i < program->options.count; i++)
        string_add_format(&text, "  %s\n", program->options.items[i]);
    string_add(&text, LAST_LINE);
    if (cache != NULL)
        file_write(cache, text.data, text.size, FILE_INTERMEDIATE, NULL);
    string_release(&text);
}

static int probe(const char *path, struct trtexec *ret, struct error *err)
{
    struct process_output help;
    struct string_builder key;
    struct stat status;
    char *cache;
    int rc = 0;

    if (stat(path, &status) != 0)
        return error_set_errno(err, ERR_MISSING, "cannot look at '%s'", path);
    string_init(&key);
    add_key(path, &status, &key);
    cache = cache_path(path);
    if (remember(cache, path, (struct text){key.data, key.size}, ret))
        goto done;
    rc = ask_program(path, &help, err);
    if (rc < 0)
        goto done;
    rc = trtexec_parse_help(path, (struct text){help.data, help.size}, ret, err);
    process_output_release(&help);
    if (rc == 0)
        note(cache, (struct text){key.data, key.size}, ret);
done:
    string_release(&key);
    free(cache);
    return rc;
}

/* ---- Finding ---- */

static const char *const usual_folders[] = {"/usr/src/tensorrt/bin", "/opt/tensorrt/bin"};

/* The libraries of an unpacked archive of TensorRT are found by LD_LIBRARY_PATH as a rule; programs lie beside. */
static char *find_beside_libraries(void)
{
    const char *folder = getenv("LD_LIBRARY_PATH");
    char *found = NULL;

    while (found == NULL && folder != NULL && folder[0] != '\0') {
        size_t size = strcspn(folder, ":");
        struct string_builder path;

        string_init(&path);
        string_add_bytes(&path, folder, size);
        string_add(&path, "/../bin/trtexec");
        if (size > 0)
            found = process_find(path.data);
        string_release(&path);
        folder += folder[size] == ':' ? size + 1 : size;
    }
    return found;
}

static char *search_places(void)
{
    char *found = process_find("trtexec");

    for (size_t i = 0; found == NULL && i < ARRAY_LEN(usual_folders); i++) {
        char *path = file_join(usual_folders[i], "trtexec");

        found = process_find(path);
        free(path);
    }
    return found != NULL ? found : find_beside_libraries();
}

static int find_program(struct trtexec *ret, struct error *err)
{
    const char *named = getenv("POLYGRAPHY_TRTEXEC");
    bool is_named = named != NULL && named[0] != '\0';
    char *found = is_named ? process_find(named) : search_places(), *absolute;
    int rc;

    if (found == NULL && is_named)
        return error_set(err, ERR_MISSING, "POLYGRAPHY_TRTEXEC names '%s', which is no program that can be run", named);
    if (found == NULL)
        return error_set(err, ERR_MISSING,
                         "trtexec, which comes with TensorRT, is neither on PATH nor in %s or %s, nor beside a folder "
                         "of LD_LIBRARY_PATH: let POLYGRAPHY_TRTEXEC name it",
                         usual_folders[0], usual_folders[1]);
    absolute = file_place(found);
    rc = probe(absolute, ret, err);
    free(absolute);
    free(found);
    return rc;
}

int trtexec_find(const struct trtexec **ret, struct error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct trtexec found;
    int rc = 0;

    pthread_mutex_lock(&mutex);
    if (found.path == NULL)
        rc = find_program(&found, err);
    pthread_mutex_unlock(&mutex);
    if (rc == 0)
        *ret = &found;
    return rc;
}
