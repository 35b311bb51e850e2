/* backend/onnxrt/releases.c: see releases.h. */
#include "backend/onnxrt/releases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backend/onnxrt/abi.h"
#include "base/file/file.h"
#include "base/file/list.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "base/text/shell_line.h"

#define LIBRARY "libonnxruntime.so.1"

/* The C library is independent of Python's version; wheels for this one exist from 1.20.0 on. */
#define PIP_OPTIONS "--no-deps", "--only-binary", ":all:", "--python-version", "3.13"

/* ---- Numbers ---- */

struct release_number {
    int major, minor, patch;
};

static bool read_release(const char *word, struct release_number *ret)
{
    int size = 0;

    return strspn(word, "0123456789.") == strlen(word) &&
           sscanf(word, "%4d.%4d.%4d%n", &ret->major, &ret->minor, &ret->patch, &size) == 3 &&
           (size_t)size == strlen(word);
}

bool onnxrt_is_release(const char *word)
{
    struct release_number release;

    return read_release(word, &release);
}

static int compare_releases(const char *a, const char *b)
{
    struct release_number x = {0}, y = {0};

    read_release(a, &x);
    read_release(b, &y);
    if (x.major != y.major)
        return x.major < y.major ? -1 : 1;
    if (x.minor != y.minor)
        return x.minor < y.minor ? -1 : 1;
    return (x.patch > y.patch) - (x.patch < y.patch);
}

int onnxrt_release_order(const void *a, const void *b)
{
    return compare_releases(*(const char *const *)a, *(const char *const *)b);
}

/* Whether PyPI's package has the C library. */
static bool is_on_pypi(const char *release)
{
    return compare_releases(release, "1.20.1") >= 0;
}

/* ---- The cache ---- */

/* <cache>/polygraphy/onnxruntime-<release>, malloc'd; NULL: there is no home folder. */
static char *cache_folder(const char *release)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    SCOPED_STRING(path);

    if (cache != NULL && cache[0] == '/')
        string_add(&path, cache);
    else if (home != NULL && home[0] != '\0')
        string_add_format(&path, "%s/.cache", home);
    else
        return NULL;
    string_add_format(&path, "/polygraphy/onnxruntime-%s", release);
    return string_take(&path);
}

/* The processor as npm's packages name it. */
static void add_npm_processor(struct string_builder *ret)
{
    struct utsname machine;

    if (uname(&machine) != 0)
        return;
    string_add(ret, strcmp(machine.machine, "x86_64") == 0    ? "x64"
                    : strcmp(machine.machine, "aarch64") == 0 ? "arm64"
                                                              : machine.machine);
}

/* The library in a folder into which a package was unpacked, malloc'd; NULL: none. */
static char *find_unpacked(const char *folder)
{
    SCOPED_STRING(npm);
    char *ret = NULL;

    string_add(&npm, "package/bin/napi-v*/linux/");
    add_npm_processor(&npm);
    string_add(&npm, "/" LIBRARY "*");
    const char *const patterns[] = {LIBRARY, "onnxruntime/capi/" LIBRARY "*", npm.data};

    for (size_t i = 0; i < ARRAY_LEN(patterns) && ret == NULL; i++)
        ret = file_find_matching(folder, patterns[i]);
    return ret;
}

char *onnxrt_release_find(const char *release)
{
    char *folder SCOPED_FREE = onnxrt_is_release(release) ? cache_folder(release) : NULL;

    return folder != NULL ? find_unpacked(folder) : NULL;
}

/* ---- Packages whose hashes are known ---- */

/* Of the wheels for CPython 3.13, as pip's --hash has them, and of the npm package, as npm's "integrity" has it. */
struct known_package {
    const char *release;
    const char *hashes[2]; /* of any machine */
};

static const struct known_package known_packages[] = {
    {"1.17.3", {"sha512-NtbN1pfApTSEjVq46LrJ396aPP2Gjhy+oYZi5Bu1leDXAEvVap/BQ8CZELiLs7z0UnXy3xjJW23HiB4P3//FIw=="}},
    {"1.22.1",
     {"sha256:b0c37070268ba4e02a1a9d28560cd00cd1e94f0d4f275cbef283854f861a65fa",
      "sha256:460487d83b7056ba98f1f7bac80287224c31d8149b15712b0d6f5078fcc33d0f"}},
    {"1.23.0",
     {"sha256:e2dc1993aa91d665faf2b17772e4e29a2999821e110c0e3d17e2b1c00d0e7f48",
      "sha256:0edee45d4119f7a6f187dc1b63e177e3e6c76932446006fd4f3e81540f260dfa"}},
    {"1.32.0",
     {"sha256:02ea12a28c069ea8510093d95a7f6ff8126bfd9fc5c0d3381c03b80fb2b424ba",
      "sha256:54d02baff2df38777b4c3cc7af326406fe8b8a48f54720f4c446d2d327920a79"}},
};

static const struct known_package *find_known_package(const char *release)
{
    for (size_t i = 0; i < ARRAY_LEN(known_packages); i++)
        if (strcmp(known_packages[i].release, release) == 0)
            return &known_packages[i];
    return NULL;
}

/* ---- Fetching ---- */

struct download {
    const char *release;
    const char *folder; /* temporary; pip and npm put the package there */
    struct log *log;
};

/* Runs a command; `ret` may be NULL. ERR_MISSING with the last line that it wrote. */
static int run_program(const char *const *arguments, struct string_builder *ret, struct error *err)
{
    struct process_result result;
    SCOPED_STRING(last);
    size_t end, start;
    int rc = process_run(&(struct process_request){.arguments = arguments, .without_input = true}, &result, err);

    if (rc < 0)
        return rc;
    if (result.end == PROCESS_EXITED && result.code == 0) {
        if (ret != NULL)
            string_add_bytes(ret, result.out.data, result.out.size);
    } else {
        for (end = result.error_out.size; end > 0 && strchr(" \n\r", result.error_out.data[end - 1]) != NULL;)
            end--;
        for (start = end; start > 0 && result.error_out.data[start - 1] != '\n';)
            start--;
        string_add_visible(&last, (struct text){result.error_out.data + start, end - start});
        rc = error_set(err, ERR_MISSING, "%s failed: %s", arguments[0], last.data);
    }
    process_result_release(&result);
    return rc;
}

/* pip compares the hash of the package with those in a file of requirements. */
static int download_by_pip(const struct download *download, struct error *err)
{
    const struct known_package *known = find_known_package(download->release);
    char *requirements SCOPED_FREE = file_join(download->folder, "requirements.txt");
    char *package SCOPED_FREE = NULL;
    SCOPED_STRING(text);
    int rc;

    string_add_format(&text, "onnxruntime==%s", download->release);
    for (size_t i = 0; known != NULL && i < ARRAY_LEN(known->hashes); i++)
        string_add_format(&text, " --hash=%s", known->hashes[i]);
    string_add(&text, "\n");
    rc = file_write(requirements, text.data, text.size, FILE_INTERMEDIATE, err);
    if (rc < 0)
        return rc;
    const char *const get[] = {"python3",
                               "-m",
                               "pip",
                               "download",
                               "--disable-pip-version-check",
                               PIP_OPTIONS,
                               "--dest",
                               download->folder,
                               "--requirement",
                               requirements,
                               NULL};
    rc = run_program(get, NULL, err);
    if (rc < 0)
        return rc;
    package = file_find_matching(download->folder, "*.whl");
    if (package == NULL)
        return error_set(err, ERR_MISSING, "pip downloaded no wheel of onnxruntime %s", download->release);
    return run_program((const char *const[]){"python3", "-m", "zipfile", "-e", package, download->folder, NULL}, NULL,
                       err);
}

static int download_by_npm(const struct download *download, struct error *err)
{
    const struct known_package *known = find_known_package(download->release);
    char *package SCOPED_FREE = NULL;
    SCOPED_STRING(what);
    SCOPED_STRING(answer);
    int rc;

    string_add_format(&what, "onnxruntime-node@%s", download->release);
    rc = run_program((const char *const[]){"npm", "pack", what.data, "--json", "--ignore-scripts", "--pack-destination",
                                           download->folder, NULL},
                     &answer, err);
    if (rc < 0)
        return rc;
    if (known != NULL && strncmp(known->hashes[0], "sha512-", strlen("sha512-")) == 0 &&
        strstr(answer.data, known->hashes[0]) == NULL)
        return error_set(err, ERR_MISSING,
                         "the package onnxruntime-node %s is not the one that is known: its hash "
                         "differs from %s",
                         download->release, known->hashes[0]);
    package = file_find_matching(download->folder, "*.tgz");
    if (package == NULL)
        return error_set(err, ERR_MISSING, "npm downloaded no package of onnxruntime-node %s", download->release);
    return run_program((const char *const[]){"tar", "-xzf", package, "-C", download->folder, NULL}, NULL, err);
}

/* Adds the commands to type: the search finds the library in what they unpack. */
static void add_commands(const char *release, const char *folder, struct string_builder *ret)
{
    static const char *const pip[] = {PIP_OPTIONS};
    struct string_builder quoted SCOPED(string_release) = {.data = string_empty};

    shell_add_argument(&quoted, folder);
    if (is_on_pypi(release)) {
        string_add(ret, "python3 -m pip download");
        for (size_t i = 0; i < ARRAY_LEN(pip); i++)
            string_add_format(ret, " %s", pip[i]);
        string_add_format(ret, " onnxruntime==%s && python3 -m zipfile -e onnxruntime-%s-*.whl %s", release, release,
                          quoted.data);
    } else {
        string_add_format(ret, "npm pack onnxruntime-node@%s && mkdir -p %s && tar -xzf onnxruntime-node-%s.tgz -C %s",
                          release, quoted.data, release, quoted.data);
    }
}

/* Moves the library of the unpacked package to its place in the cache, where it is complete or missing. */
static int keep_library(const struct download *download, const char *kept, struct error *err)
{
    char *library SCOPED_FREE = find_unpacked(download->folder);
    int rc;

    if (library == NULL)
        return error_set(err, ERR_MISSING, "the package of ONNX Runtime %s has no C library for this machine",
                         download->release);
    rc = file_make_parent_folders(kept, err);
    if (rc == 0 && rename(library, kept) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot move the library to '%s'", kept);
    return rc;
}

/* Into a folder next to its destination, from which the library can be renamed. */
static int download_release(const char *release, const char *folder, struct log *log, struct error *err)
{
    char *temporary SCOPED_FREE = file_temporary_name(folder);
    char *kept SCOPED_FREE = file_join(folder, LIBRARY);
    const struct download download = {release, temporary, log};
    int rc = file_make_folders(temporary, err);

    if (rc < 0)
        return rc;
    log_message(log, LOG_INFO, "Fetching ONNX Runtime %s by %s", release,
                is_on_pypi(release) ? "`pip download onnxruntime`" : "`npm pack onnxruntime-node`");
    rc = is_on_pypi(release) ? download_by_pip(&download, err) : download_by_npm(&download, err);
    if (rc == 0)
        rc = keep_library(&download, kept, err);
    file_remove_tree(temporary, NULL);
    return rc;
}

int onnxrt_release_fetch(const char *release, struct log *log, char **ret, struct error *err)
{
    char *folder SCOPED_FREE = cache_folder(release);
    char *found = onnxrt_release_find(release);
    struct error why = {.message = "its library is not in the cache any more"};
    SCOPED_STRING(commands);
    int rc;

    if (found == NULL && folder == NULL)
        return error_set(err, ERR_MISSING, "there is no folder for ONNX Runtime %s: set HOME or XDG_CACHE_HOME",
                         release);
    if (found == NULL) {
        rc = download_release(release, folder, log, &why);
        if (rc == ERR_INTERRUPTED)
            return error_set(err, ERR_INTERRUPTED, "%s", why.message);
        found = rc == 0 ? onnxrt_release_find(release) : NULL;
        if (found == NULL) {
            add_commands(release, folder, &commands);
            return error_set(err, ERR_MISSING,
                             "ONNX Runtime %s cannot be fetched: %s. Where there is a network, type: "
                             "%s",
                             release, why.message, commands.data);
        }
    }
    *ret = found;
    return 0;
}

/* ---- All releases ---- */

static bool release_is_listed(const struct file_list *list, const char *release)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], release) == 0)
            return true;
    return false;
}

/* Adds the stable releases that a text names and this program can use; those on PyPI, or the others. */
static void add_releases(const char *text, bool on_pypi, struct file_list *ret)
{
    static const char separators[] = " \t\r\n,\"[]()";
    SCOPED_STRING(oldest);

    string_add_format(&oldest, "1.%d.0", ORT_API_VERSION);
    while (*(text += strspn(text, separators)) != '\0') {
        size_t size = strcspn(text, separators);
        char *word SCOPED_FREE = memory_copy(text, size);

        text += size;
        if (onnxrt_is_release(word) && is_on_pypi(word) == on_pypi && compare_releases(word, oldest.data) >= 0 &&
            !release_is_listed(ret, word))
            *VECTOR_APPEND(ret) = memory_strdup(word);
    }
}

int onnxrt_releases_list(struct log *log, struct file_list *ret, struct error *err)
{
    static const char *const of_pypi[] = {"python3",       "-m",          "pip",
                                          "index",         "versions",    "--disable-pip-version-check",
                                          "--only-binary", ":all:",       "--python-version",
                                          "3.13",          "onnxruntime", NULL};
    static const char *const of_npm[] = {"npm", "view", "onnxruntime-node", "versions", "--json", NULL};
    SCOPED_STRING(pypi);
    SCOPED_STRING(npm);
    struct error no_pypi = {0}, no_npm = {0};
    int rc = run_program(of_pypi, &pypi, &no_pypi);

    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", no_pypi.message);
    add_releases(pypi.data, true, ret);
    rc = run_program(of_npm, &npm, &no_npm);
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", no_npm.message);
    add_releases(npm.data, false, ret);
    if (ret->count == 0)
        return error_set(err, ERR_MISSING,
                         "the releases of ONNX Runtime cannot be listed: %s%s%s. Name them: --releases "
                         "1.20.1,1.22.1,...",
                         no_pypi.message, no_pypi.message[0] != '\0' ? "; " : "", no_npm.message);
    if (no_pypi.message[0] != '\0')
        log_message(log, LOG_WARNING, "Releases from 1.20.1 on cannot be listed and are not tested: %s",
                    no_pypi.message);
    if (no_npm.message[0] != '\0')
        log_message(log, LOG_WARNING, "Releases before 1.20.1 cannot be listed and are not tested: %s", no_npm.message);
    qsort(ret->items, ret->count, sizeof(*ret->items), onnxrt_release_order);
    return 0;
}

/* ---- Python packages without a C library ---- */

bool onnxrt_release_explain_package(const char *folder, struct string_builder *ret)
{
    char *module SCOPED_FREE = file_find_matching(folder, "onnxruntime_pybind11_state*.so");
    char *info SCOPED_FREE = file_find_matching(folder, "../../onnxruntime*-*.dist-info");
    char *name SCOPED_FREE = info != NULL ? file_basename(info) : NULL;
    char *release = name != NULL ? strchr(name, '-') + 1 : NULL, *end;

    if (module == NULL)
        return false;
    string_add_format(ret, "'%s', a Python package without the C library, which PyPI's onnxruntime has from 1.20.1 on",
                      folder);
    end = release != NULL ? strstr(release, ".dist-info") : NULL;
    if (end != NULL)
        *end = '\0';
    if (end != NULL && onnxrt_is_release(release))
        string_add_format(ret, ": npm's onnxruntime-node %s has it, which --onnxrt-library %s fetches", release,
                          release);
    return true;
}
