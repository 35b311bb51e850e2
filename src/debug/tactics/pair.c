/* debug/tactics/pair.c: see pair.h. */
#include "debug/tactics/pair.h"

#include <string.h>

/* Replays of one network list layers in the same order, so the same place is tried first. */
static const struct tactic_algorithm *find_near(const struct tactic_replay *replay, size_t place, const char *layer)
{
    if (place < replay->count && strcmp(replay->items[place].layer, layer) == 0)
        return &replay->items[place].algorithm;
    return tactic_replay_find(replay, layer);
}

static size_t count_differences(const struct tactic_replay *good, const struct tactic_replay *bad)
{
    size_t common = 0, different = 0;

    for (size_t i = 0; i < bad->count; i++) {
        const struct tactic_algorithm *algorithm = find_near(good, i, bad->items[i].layer);

        common += algorithm != NULL;
        different += algorithm != NULL && !tactic_algorithm_equal(algorithm, &bad->items[i].algorithm);
    }
    return different + (good->count - common) + (bad->count - common);
}

static bool are_alike(const struct tactic_options *a, const struct tactic_options *b)
{
    return !a->known || !b->known || tactic_options_equal(a, b);
}

static int refuse_empty(const char *kind, struct error *err)
{
    return error_set(err, ERR_MISSING, "no tactic replay of a %s build", kind);
}

static int refuse_unlike(const struct tactic_build *good, const struct tactic_build *bad, struct error *err)
{
    SCOPED_STRING(text);

    string_add_format(&text, "'%s' is of a build with ", good->path);
    tactic_options_text(&good->replay.precision, &text);
    string_add_format(&text, ", '%s' of one with ", bad->path);
    tactic_options_text(&bad->replay.precision, &text);
    return error_set(err, ERR_INVALID, "no good and bad replay are of builds in the same precision: %s", text.data);
}

static bool is_better(const struct tactic_pair *pair, size_t differences)
{
    if (pair->good == NULL)
        return true;
    return pair->differences == 0 ? differences > 0 : differences > 0 && differences < pair->differences;
}

/* Chooses among bad builds in `with` and good ones not in it; NULL: among all. */
static struct tactic_pair choose_closest_pair(const struct tactic_builds *good, const struct tactic_builds *bad,
                                              const struct bitset *with)
{
    struct tactic_pair pair = {0};

    for (size_t i = 0; i < good->count; i++)
        for (size_t k = 0; k < bad->count; k++) {
            const struct tactic_build *one = &good->items[i], *other = &bad->items[k];
            size_t differences;

            if (with && (bitset_has(with, bad->count + i) || !bitset_has(with, k)))
                continue;
            if (!are_alike(&one->replay.precision, &other->replay.precision))
                continue;
            pair.count++;
            differences = count_differences(&one->replay, &other->replay);
            if (is_better(&pair, differences)) {
                pair.good = one;
                pair.bad = other;
                pair.differences = differences;
            }
            if (differences == 0 && pair.same_good == NULL) {
                pair.same_good = one;
                pair.same_bad = other;
            }
        }
    return pair;
}

int tactic_pair_choose(const struct tactic_builds *good, const struct tactic_builds *bad, struct tactic_pair *ret,
                       struct error *err)
{
    struct tactic_pair pair;

    if (good->count == 0)
        return refuse_empty("good", err);
    if (bad->count == 0)
        return refuse_empty("bad", err);
    pair = choose_closest_pair(good, bad, NULL);
    if (pair.good == NULL)
        return refuse_unlike(&good->items[0], &bad->items[0], err);
    *ret = pair;
    return 0;
}

int tactic_pair_choose_for(const struct tactic_diff *diff, size_t column, struct tactic_pair *ret, struct error *err)
{
    struct tactic_pair pair = choose_closest_pair(&diff->good, &diff->bad, &diff->table.items[column].builds);

    if (pair.good == NULL)
        return tactic_pair_choose(&diff->good, &diff->bad, ret, err);
    *ret = pair;
    return 0;
}
