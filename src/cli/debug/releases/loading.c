/* cli/debug/releases/loading.c: see loading.h. */
#include "cli/debug/releases/loading.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/releases.h"

/* Messages of the runtime about models that are too new for it. They are those of releases 1.16 to 1.32. */
static const char *const too_new[] = {"Unsupported model IR version",
                                      "under development and support for this is limited", "No Op registered for",
                                      "is not a registered function/op", "Could not find an implementation for"};

static bool is_too_new(const struct error *why)
{
    for (size_t i = 0; i < ARRAY_LEN(too_new); i++)
        if (strstr(why->message, too_new[i]) != NULL)
            return true;
    return false;
}

/* Without the library or weights there is nothing to check. Other refusals, and crashes, are for the check. */
static bool is_missing(const struct error *why)
{
    return why->code == ERR_MISSING || why->code == ERR_UNSUPPORTED;
}

static uint64_t model_size(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static int try_to_load(const struct release_loading *loading, const char *library, struct error *err)
{
    struct onnxrt_settings settings = {.library = library,
                                       .custom_op_libraries = loading->settings->custom_op_libraries};
    const struct backend_request request = {
        .model.path = loading->model,
        .settings = &settings,
        .bounds = onnxrt_apart_bounds(model_size(loading->model), loading->max_memory),
    };
    struct backend_session *session = NULL;
    int rc = onnxrt_apart_backend.open(&request, &session, err);

    onnxrt_apart_backend.close(session);
    return rc;
}

static void set_untestable(struct release_loading *loading, const struct error *why, struct release *ret)
{
    ret->state = RELEASE_UNTESTABLE;
    ret->why = arena_strdup(loading->arena, why->message);
}

int release_open(void *data, struct release *release, struct error *err)
{
    struct release_loading *loading = data;
    char *path = NULL;
    int rc;

    if (release->library != NULL || release->state == RELEASE_UNTESTABLE)
        return 0;
    rc = onnxrt_release_fetch(release->name, loading->log, &path, err);
    if (rc == 0) {
        release->library = arena_strdup(loading->arena, path);
        free(path);
        rc = try_to_load(loading, release->library, err);
        release->is_too_old = rc < 0 && is_too_new(err);
        if (rc < 0 && rc != ERR_INTERRUPTED && !release->is_too_old && !is_missing(err))
            rc = 0;
    }
    if (rc < 0 && rc != ERR_INTERRUPTED)
        set_untestable(loading, err, release);
    return rc == ERR_INTERRUPTED ? rc : 0;
}

bool release_is_at_hand(void *data, const struct release *release)
{
    char *path SCOPED_FREE = onnxrt_release_find(release->name);

    (void)data;
    return path != NULL;
}

/* Opens releases from `*index` on, up to one that is testable or too old; `end` if there is none before it. */
static int open_next(struct release_loading *loading, struct release_list *releases, size_t end, size_t *index,
                     struct error *err)
{
    int rc = 0;

    for (; rc == 0 && *index < end; ++*index) {
        const struct release *release = &releases->items[*index];

        rc = release_open(loading, &releases->items[*index], err);
        if (release->state != RELEASE_UNTESTABLE || release->is_too_old)
            break;
    }
    return rc;
}

int release_find_oldest(struct release_loading *loading, struct release_list *releases, size_t *ret, struct error *err)
{
    struct release *items = releases->items;
    size_t too_old = 0, testable = releases->count;
    int rc = release_open(loading, &items[0], err);

    if (items[0].state != RELEASE_UNTESTABLE)
        testable = 0;
    for (size_t i = releases->count; rc == 0 && testable == releases->count && i-- > 1;) {
        rc = release_open(loading, &items[i], err);
        if (items[i].state != RELEASE_UNTESTABLE)
            testable = i;
    }
    for (size_t high = testable; rc == 0 && testable != releases->count && high > too_old + 1;) {
        size_t middle = too_old + (high - too_old) / 2, index = middle;

        rc = open_next(loading, releases, high, &index, err);
        if (index == high)
            high = middle;
        else if (items[index].is_too_old)
            too_old = index;
        else
            high = testable = index;
    }
    *ret = testable;
    return rc;
}
