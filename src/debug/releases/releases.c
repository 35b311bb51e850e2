/* debug/releases/releases.c: see releases.h. */
#include "debug/releases/releases.h"

#include "base/file/file.h"
#include "debug/belief/belief.h"

struct releases_search {
    const struct releases_request *request;
    struct release_list *releases;
    const struct release *current; /* the candidate */
};

static bool is_tested(const struct release *release)
{
    return release->state == RELEASE_PASSES || release->state == RELEASE_FAILS;
}

/* ---- Candidates ---- */

static int identify_release(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct releases_search *releases = data;

    (void)search;
    ret->num_nodes = -1;
    ret->has_identity = true;
    ret->expectation = EXPECT_BOUNDARY;
    return hash_file(releases->current->library, &ret->identity, err);
}

static int write_release(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                         struct error *err)
{
    const struct releases_search *releases = data;

    (void)candidate;
    return file_copy(releases->current->library, paths->items[CANDIDATE_ARTIFACT], FILE_INTERMEDIATE, err);
}

static struct session_subject subject_of(struct releases_search *search)
{
    return (struct session_subject){
        .data = search, .kind = "library", .identify = identify_release, .write = write_release};
}

static int check_release(struct releases_search *search, struct release *release, struct error *err)
{
    const struct releases_request *request = search->request;
    struct session_subject subject = subject_of(search);
    const struct check_request check = {ROLE_CANDIDATE, arena_printf(request->arena, "_release_%s", release->name),
                                        arena_printf(request->arena, "release %s", release->name)};
    enum verdict verdict;
    int rc;

    search->current = release;
    rc = session_check(request->session, &subject, check, &verdict, err);
    if (rc < 0)
        return rc;
    release->state = verdict == VERDICT_PASS   ? RELEASE_PASSES
                     : verdict == VERDICT_FAIL ? RELEASE_FAILS
                                               : RELEASE_UNTESTABLE;
    if (verdict == VERDICT_SKIP)
        release->why = "the check is inconclusive";
    return 0;
}

static int test_release(struct releases_search *search, size_t index, struct error *err)
{
    const struct releases_request *request = search->request;
    struct release *release = &search->releases->items[index];
    int rc = 0;

    if (release->state == RELEASE_NOT_TESTED)
        rc = request->open(request->data, release, err);
    if (rc == 0 && release->state == RELEASE_NOT_TESTED)
        rc = check_release(search, release, err);
    if (rc == 0 && release->state == RELEASE_UNTESTABLE)
        log_message(request->log, LOG_INFO, "Release %s is untestable: %s", release->name, release->why);
    return rc;
}

/* ---- The search ---- */

/* Sets the oldest and the newest testable release; equal if there is only one, `count` if there is none. */
static int find_ends(struct releases_search *search, size_t *ret_oldest, size_t *ret_newest, struct error *err)
{
    const struct release_list *releases = search->releases;
    size_t oldest = 0, newest = releases->count;
    int rc = 0;

    for (; rc == 0 && newest > 0; newest--) {
        rc = test_release(search, newest - 1, err);
        if (is_tested(&releases->items[newest - 1]))
            break;
    }
    for (; rc == 0 && oldest + 1 < newest; oldest++) {
        rc = test_release(search, oldest, err);
        if (is_tested(&releases->items[oldest]))
            break;
    }
    *ret_newest = newest > 0 ? newest - 1 : releases->count;
    *ret_oldest = newest > 0 ? oldest : releases->count;
    return rc;
}

/* Two ends with the same verdict say nothing about what lies between them: a tested one with another verdict becomes
 * the end on its side. */
static int test_those_at_hand(struct releases_search *search, size_t *oldest, size_t *newest, struct error *err)
{
    const struct releases_request *request = search->request;
    struct release *items = search->releases->items;
    enum release_state state = items[*oldest].state;
    int rc = 0;

    for (size_t i = *newest; rc == 0 && i-- > *oldest + 1;) {
        if (!request->is_at_hand(request->data, &items[i]))
            continue;
        rc = test_release(search, i, err);
        if (rc < 0 || !is_tested(&items[i]) || items[i].state == state)
            continue;
        *(state == RELEASE_FAILS ? oldest : newest) = i;
        break;
    }
    return rc;
}

/* The untested release nearest to the middle between both; `high` if there is none. */
static size_t choose_between(const struct release_list *releases, size_t low, size_t high)
{
    size_t middle = low + (high - low) / 2;

    for (size_t distance = 0; distance < high - low; distance++) {
        if (middle + distance < high && releases->items[middle + distance].state == RELEASE_NOT_TESTED)
            return middle + distance;
        if (middle > low + distance && releases->items[middle - distance].state == RELEASE_NOT_TESTED)
            return middle - distance;
    }
    return high;
}

/* Both ends have different verdicts. */
static int bisect_releases(struct releases_search *search, size_t low, size_t high, struct releases_result *ret,
                           struct error *err)
{
    const struct release *items = search->releases->items;
    size_t next;

    while ((next = choose_between(search->releases, low, high)) != high) {
        int rc = test_release(search, next, err);

        if (rc < 0)
            return rc;
        if (items[next].state == items[low].state)
            low = next;
        else if (items[next].state == items[high].state)
            high = next;
    }
    *ret = (struct releases_result){RELEASES_FOUND, low, high};
    return 0;
}

static int confirm_release(struct releases_search *search, size_t index, struct error *err)
{
    const struct releases_request *request = search->request;
    const struct release *release = &search->releases->items[index];
    struct session_subject subject = subject_of(search);

    search->current = release;
    if (session_state(request->session).is_flaky)
        return 0;
    return belief_confirm(request->session, &subject, arena_printf(request->arena, "release %s", release->name),
                          release->state == RELEASE_PASSES ? VERDICT_PASS : VERDICT_FAIL, err);
}

int releases_run(const struct releases_request *request, struct release_list *releases, struct releases_result *ret,
                 struct error *err)
{
    struct releases_search search = {request, releases, NULL};
    size_t oldest, newest;
    int rc = find_ends(&search, &oldest, &newest, err);

    *ret = (struct releases_result){.outcome = RELEASES_NONE_TESTED};
    if (rc < 0 || newest == releases->count)
        return rc;
    if (releases->items[oldest].state == releases->items[newest].state)
        rc = test_those_at_hand(&search, &oldest, &newest, err);
    if (rc < 0)
        return rc;
    if (releases->items[oldest].state == releases->items[newest].state) {
        ret->outcome = releases->items[newest].state == RELEASE_PASSES ? RELEASES_ALL_PASS : RELEASES_ALL_FAIL;
        return confirm_release(&search, newest, err);
    }
    rc = bisect_releases(&search, oldest, newest, ret, err);
    if (rc == 0)
        rc = confirm_release(&search, ret->before, err);
    return rc == 0 ? confirm_release(&search, ret->after, err) : rc;
}
