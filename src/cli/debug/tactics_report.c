/* cli/debug/tactics_report.c: see tactics_report.h. */
#include "cli/debug/tactics_report.h"

#include <string.h>

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

#define LISTED 10 /* layers in one list, without -v */

static void add_isolated_layers(const struct tactic_isolation *isolation, const struct bitset *layers, size_t listed,
                                struct string_builder *ret)
{
    size_t count = bitset_count(layers), shown = 0;

    for (size_t i = bitset_next(layers, 0); i < layers->size && shown < listed; i = bitset_next(layers, i + 1), shown++)
        string_add_format(ret, "\n    %s", isolation->differences.items[i].layer);
    if (shown < count)
        string_add_format(ret, "\n    and %zu more; -v shows them.", count - shown);
}

/* The kernel of the bad build's tactics that were found. */
static void add_kernel(const struct tactic_isolation *isolation, struct string_builder *ret)
{
    tactic_algorithm_kernel_text(isolation->differences.items[bitset_next(&isolation->search.found, 0)].bad, ret);
}

static void log_kernel(const struct tactic_isolation *isolation, struct log *log)
{
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *fault = tactic_isolation_fault(isolation);
    size_t found = bitset_count(&isolation->search.found), count = bitset_count(fault);
    size_t harmless = bitset_count(&kernel->layers) - count + kernel->kept;
    SCOPED_STRING(text);

    string_add(&text, "The kernel ");
    add_kernel(isolation, &text);
    string_add_format(&text, " is at fault, in %s%zu layers:", kernel->search.exact ? "" : "some or all of ", count);
    add_isolated_layers(isolation, fault, log_shows(log, LOG_VERBOSE) ? SIZE_MAX : LISTED, &text);
    log_message(log, LOG_INFO, "%s", text.data);
    if (kernel->search.exact)
        log_message(log, LOG_INFO,
                    "Seen: the good build fails with it in each of these alone, and the bad build passes without it in "
                    "these");
    else
        log_message(
            log, LOG_INFO,
            "Seen: the bad build passes without it in all of these, and the good build fails with it in %s'%s'%s",
            found == 1 ? "" : "layers such as ",
            isolation->differences.items[bitset_next(&isolation->search.found, 0)].layer, found == 1 ? " alone" : "");
    if (harmless > 0)
        log_message(log, LOG_INFO, "The same kernel does no harm in %zu other layer(s)", harmless);
}

/* Where the fault lies beside the tactics that were found, or does not. */
static void log_rest(const struct tactic_isolation *isolation, struct log *log)
{
    const struct isolation_kernel *kernel = &isolation->kernel;
    size_t found = bitset_count(&isolation->search.found);
    size_t others = kernel->known ? bitset_count(&kernel->layers) - found : 0;
    size_t left = isolation->differences.count - (kernel->searched ? found + others : found);

    if (isolation->search.necessary && others + kernel->kept > 0)
        log_message(log, LOG_INFO, "The same kernel does no harm in %zu other layer(s)", others + kernel->kept);
    if (isolation->search.necessary)
        return;
    if (tactic_isolation_fault(isolation))
        log_kernel(isolation, log);
    else if ((kernel->searched ? kernel->search.without : isolation->search.without) == VERDICT_FAIL)
        log_message(log, LOG_WARNING,
                    "The bad build also fails without%s: there is another reason among the other %zu layer(s). Correct "
                    "the bad replay here, and run this again",
                    kernel->searched ? " it, and without this kernel in any layer" : "", left);
    else
        log_message(log, LOG_WARNING,
                    "The check says nothing of the bad build without%s: whether there is another reason among the "
                    "other %zu layer(s) is not known",
                    kernel->searched ? " this kernel in any layer" : "", left);
}

/* Whether builds without the kernel can be asked for by its name. Those of ONNX Runtime say how an operator is run,
 * whichever it is: to leave one out takes more away than a kernel. */
static bool can_be_excluded(const struct tactic_isolation *isolation)
{
    const char *name = isolation->differences.items[bitset_next(&isolation->search.found, 0)].bad->name;

    return isolation->kernel.known && name && strncmp(name, "onnxrt:", 7) != 0;
}

static void log_mend(const struct tactic_isolation *isolation, struct log *log)
{
    SCOPED_STRING(text);

    if (isolation->mend)
        log_message(log, LOG_INFO, "'%s' has the tactics of the bad build as it was seen to pass: --load-tactics %s",
                    isolation->mend, isolation->mend);
    if (!can_be_excluded(isolation))
        return;
    add_kernel(isolation, &text);
    log_message(log, LOG_INFO, "To build without it: --exclude-tactics %s", text.data);
}

static void log_found(const struct tactic_isolation *isolation, struct log *log)
{
    const struct bitset *found = &isolation->search.found;
    size_t count = bitset_count(found), others = isolation->differences.count - count;
    SCOPED_STRING(text);

    string_add_format(&text, "The tactic%s of %zu layer%s make%s the difference:", count == 1 ? "" : "s", count,
                      count == 1 ? "" : "s", count == 1 ? "s" : "");
    for (size_t i = bitset_next(found, 0); i < found->size; i = bitset_next(found, i + 1)) {
        string_add_format(&text, "\nLayer: %s\n    good: ", isolation->differences.items[i].layer);
        add_algorithm(&text, isolation->differences.items[i].good);
        string_add(&text, "\n    bad:  ");
        add_algorithm(&text, isolation->differences.items[i].bad);
    }
    log_message(log, LOG_INFO, "%s", text.data);

    if (others == 0)
        log_message(log, LOG_INFO, "The replays differ in nothing else");
    else
        log_message(log, LOG_INFO, "Seen: the good build fails with %s instead of its own%s",
                    count == 1 ? "it" : "them",
                    isolation->search.necessary ? count == 1 ? ", and the bad build passes without it"
                                                             : ", and the bad build passes without them"
                                                : "");
    log_rest(isolation, log);
    log_mend(isolation, log);
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

static void write_layers(const struct tactic_isolation *isolation, const struct bitset *layers,
                         struct json_writer *writer)
{
    json_writer_begin_array(writer);
    for (size_t i = bitset_next(layers, 0); i < layers->size; i = bitset_next(layers, i + 1))
        json_writer_string(writer, isolation->differences.items[i].layer);
    json_writer_end_array(writer);
}

/* A build that was checked: the replay that most tactics are of, the layers whose tactics are of the other one. */
static void write_build(const struct tactic_isolation *isolation, const char *base, const struct bitset *exchanged,
                        enum verdict verdict, struct json_writer *writer)
{
    static const char *const verdicts[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "skipped"};

    json_writer_begin_object(writer);
    json_writer_add_string(writer, "replay", base);
    json_writer_key(writer, "exchanged");
    write_layers(isolation, exchanged, writer);
    json_writer_add_string(writer, "verdict", verdicts[verdict]);
    json_writer_end_object(writer);
}

static void write_seen(const struct tactic_isolation *isolation, struct json_writer *writer)
{
    const struct bitset *found = &isolation->search.found;
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *guilty = &kernel->search.guilty;
    SCOPED_BITSET(one);

    bitset_init(&one, isolation->differences.count);
    json_writer_begin_array_member(writer, "seen");
    write_build(isolation, "good", &one, VERDICT_PASS, writer);
    write_build(isolation, "bad", &one, VERDICT_FAIL, writer);
    if (bitset_count(found) < isolation->differences.count) { /* else it is these two */
        write_build(isolation, "good", found, VERDICT_FAIL, writer);
        write_build(isolation, "bad", found, isolation->search.without, writer);
    }
    for (size_t i = 0; kernel->searched && i < guilty->size; i++)
        if (bitset_has(guilty, i) && !bitset_has(found, i)) {
            bitset_clear(&one);
            bitset_add(&one, i);
            write_build(isolation, "good", &one, VERDICT_FAIL, writer);
        }
    if (kernel->searched)
        write_build(isolation, "bad", &kernel->layers, kernel->search.without, writer);
    if (kernel->searched && kernel->search.exact && !bitset_equal(guilty, &kernel->layers))
        write_build(isolation, "bad", guilty, VERDICT_PASS, writer);
    json_writer_end_array(writer);
}

static void write_mend(const struct tactic_isolation *isolation, struct json_writer *writer)
{
    SCOPED_STRING(name);

    add_kernel(isolation, &name);
    json_writer_begin_object_member(writer, "mend");
    json_writer_add_string(writer, "exclude_tactics", can_be_excluded(isolation) ? name.data : NULL);
    json_writer_add_string(writer, "load_tactics", isolation->mend);
    json_writer_end_object(writer);
}

static void write_kernel(const struct tactic_isolation *isolation, struct json_writer *writer)
{
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *fault = tactic_isolation_fault(isolation);
    SCOPED_STRING(name);
    SCOPED_BITSET(harmless);

    if (!json_writer_key_or_null(writer, "kernel", kernel->known))
        return;
    add_kernel(isolation, &name);
    bitset_init_copy(&harmless, &kernel->layers);
    if (fault)
        bitset_subtract(&harmless, fault);
    else
        bitset_clear(&harmless); /* nothing is known of them */
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", name.data);
    json_writer_add_boolean(writer, "proven", fault != NULL);
    json_writer_add_boolean(writer, "exact", isolation->search.necessary || (kernel->searched && kernel->search.exact));
    json_writer_key(writer, "layers");
    write_layers(isolation, fault ? fault : &kernel->layers, writer);
    json_writer_key(writer, "harmless_layers");
    write_layers(isolation, &harmless, writer);
    json_writer_add_count(writer, "layers_of_both", kernel->kept);
    json_writer_end_object(writer);
}

static void write_found(const struct tactic_isolation *isolation, struct json_writer *writer)
{
    const struct bitset *found = &isolation->search.found;

    json_writer_add_count(writer, "builds", isolation->builds);
    json_writer_add_string(writer, "good", isolation->good_path);
    json_writer_add_string(writer, "bad", isolation->bad_path);
    write_seen(isolation, writer);
    write_mend(isolation, writer);
    write_kernel(isolation, writer);
    json_writer_add_boolean(writer, "necessary", isolation->search.necessary);
    json_writer_begin_array_member(writer, "tactics");
    for (size_t i = bitset_next(found, 0); i < found->size; i = bitset_next(found, i + 1)) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "layer", isolation->differences.items[i].layer);
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

    json_writer_add_string(writer, "outcome", outcomes[isolation->outcome]);
    json_writer_add_count(writer, "differing_layers", isolation->differences.count);
    if (isolation->outcome == ISOLATION_FOUND)
        write_found(isolation, writer);
}
