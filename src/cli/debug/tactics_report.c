/* cli/debug/tactics_report.c: see tactics_report.h. */
#include "cli/debug/tactics_report.h"

void tactic_isolation_announce(const struct tactic_isolation *isolation, struct log *log)
{
    if (isolation->only_in_one > 0)
        log_message(log, LOG_WARNING,
                    "%zu layer(s) are only in one of the replays, as if they were of different networks: their tactics "
                    "are left to "
                    "the builder",
                    isolation->only_in_one);
    log_message(log, LOG_INFO, "%zu of %zu layer(s) have different tactics in the two replays",
                isolation->differences.count, isolation->bad->count);
}

/* The readable name when the replay has one, and the numbers in any case. */
static void add_algorithm(struct string_builder *ret, const struct tactic_algorithm *algorithm)
{
    if (algorithm->name)
        string_add_format(ret, "%s ", algorithm->name);
    string_add_format(ret, "(Implementation: %lld, Tactic: %lld)", (long long)algorithm->implementation,
                      (long long)algorithm->tactic);
}

static void log_found(const struct tactic_isolation *isolation, struct log *log)
{
    const struct bitset *found = &isolation->search.found;
    size_t count = bitset_count(found), others = isolation->differences.count - count;
    struct string_builder text;

    string_init(&text);
    string_add_format(&text, "The tactic%s of %zu layer%s make%s the difference:", count == 1 ? "" : "s", count,
                      count == 1 ? "" : "s", count == 1 ? "s" : "");
    for (size_t i = bitset_next(found, 0); i < found->size; i = bitset_next(found, i + 1)) {
        string_add_format(&text, "\nLayer: %s\n    good: ", isolation->differences.items[i].layer);
        add_algorithm(&text, isolation->differences.items[i].good);
        string_add(&text, "\n    bad:  ");
        add_algorithm(&text, isolation->differences.items[i].bad);
    }
    log_message(log, LOG_INFO, "%s", text.data);
    string_release(&text);

    if (others == 0)
        log_message(log, LOG_INFO, "The replays differ in nothing else");
    else
        log_message(log, LOG_INFO, "Seen: the good build fails with %s instead of its own%s",
                    count == 1 ? "it" : "them",
                    isolation->search.necessary ? count == 1 ? ", and the bad build passes without it"
                                                             : ", and the bad build passes without them"
                                                : "");
    if (!isolation->search.necessary)
        log_message(
            log, LOG_WARNING,
            "The bad build also fails without: there is another reason among the other %zu layer(s). Correct the bad "
            "replay here, and run this again",
            others);
    log_message(log, LOG_INFO, "Found with %zu build(s), those of the replays themselves included", isolation->builds);
}

void tactic_isolation_log(const struct tactic_isolation *isolation, struct log *log)
{
    switch (isolation->outcome) {
    case ISOLATION_FOUND:
        log_found(isolation, log);
        return;
    case ISOLATION_SAME:
        log_message(
            log, LOG_WARNING,
            "The replays have the same tactics: whatever makes one build fail, it is not the choice of tactics");
        return;
    case ISOLATION_GOOD_FAILS:
        log_message(
            log, LOG_WARNING,
            "A build with the tactics of the good replay fails: the check, the data or other options are not those "
            "that it passed with");
        return;
    case ISOLATION_BAD_PASSES:
        log_message(
            log, LOG_WARNING,
            "A build with the tactics of the bad replay passes: its failure does not come from the choice of tactics, "
            "or comes and goes");
        return;
    }
}

static void write_algorithm(struct json_writer *writer, const char *key, const struct tactic_algorithm *algorithm)
{
    json_writer_key(writer, key);
    tactic_algorithm_write(algorithm, writer);
}

static void write_found(const struct tactic_isolation *isolation, struct json_writer *writer)
{
    const struct bitset *found = &isolation->search.found;

    json_writer_key(writer, "builds");
    json_writer_integer(writer, (int64_t)isolation->builds);
    json_writer_key(writer, "necessary");
    json_writer_boolean(writer, isolation->search.necessary);
    json_writer_key(writer, "tactics");
    json_writer_begin_array(writer);
    for (size_t i = bitset_next(found, 0); i < found->size; i = bitset_next(found, i + 1)) {
        json_writer_begin_object(writer);
        json_writer_key(writer, "layer");
        json_writer_string(writer, isolation->differences.items[i].layer);
        write_algorithm(writer, "good", isolation->differences.items[i].good);
        write_algorithm(writer, "bad", isolation->differences.items[i].bad);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

void tactic_isolation_write(const void *data, struct json_writer *writer)
{
    static const char *const outcomes[] = {[ISOLATION_FOUND] = "found",
                                           [ISOLATION_SAME] = "same tactics",
                                           [ISOLATION_GOOD_FAILS] = "good fails",
                                           [ISOLATION_BAD_PASSES] = "bad passes"};
    const struct tactic_isolation *isolation = data;

    json_writer_key(writer, "outcome");
    json_writer_string(writer, outcomes[isolation->outcome]);
    json_writer_key(writer, "differing_layers");
    json_writer_integer(writer, (int64_t)isolation->differences.count);
    if (isolation->outcome == ISOLATION_FOUND)
        write_found(isolation, writer);
}
