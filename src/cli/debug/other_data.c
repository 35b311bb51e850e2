/* cli/debug/other_data.c: see other_data.h. */
#include "cli/debug/other_data.h"

#include "base/file/identity.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "cli/options/groups.h"

bool other_data_contradicts(const struct other_data *other)
{
    return other->is_known && other->passing == VERDICT_FAIL;
}

void other_data_add_line(const struct other_data *other, const char *fix, struct result *ret)
{
    static const char *const failing[] = {
        [VERDICT_PASS] = "passes", [VERDICT_FAIL] = "fails", [VERDICT_SKIP] = "is inconclusive"};
    long long seed = (long long)other->seed;

    if (!other->is_known && other->why_not != NULL)
        result_add_line(ret, RESULT_NOT_TESTED, "the same with other input data (--seed %lld): %s", seed,
                        other->why_not);
    if (!other->is_known)
        return;
    if (other_data_contradicts(other))
        result_add_line(ret, RESULT_CAUTION, "with other input data (--seed %lld) it %s, and fails with %s, too", seed,
                        failing[other->failing], fix);
    else if (other->failing == VERDICT_FAIL && other->passing == VERDICT_PASS)
        result_add_line(ret, RESULT_EVIDENCE, "also with other input data (--seed %lld): fails, and passes with %s",
                        seed, fix);
    else
        result_add_line(ret, RESULT_NOT_TESTED, "whether it is the cause with other input data: with --seed %lld %s",
                        seed, other->failing == VERDICT_PASS ? "nothing fails" : "the check is inconclusive");
}

static void append_words(struct word_list *ret, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *VECTOR_APPEND(ret) = words[i];
}

/* Runs these words and `more`. `*ret`: its verdict, inconclusive unless the outputs match or differ; `ret_output` (may
 * be NULL): its errors. */
static int run_other(const struct own_check *check, const struct other_run *run, const struct word_list *more,
                     enum verdict *ret, const char **ret_output, struct error *err)
{
    const char *const environment[] = {"POLYGRAPHY_ITERATION=0", run->variable, NULL};
    struct arena *arena = parse_arena((struct parse *)check->context->parse);
    struct word_list words SCOPED_ITEMS = {0};
    struct process_result result;
    int rc;

    append_words(&words, run->words.items, run->words.count);
    append_words(&words, more->items, more->count);
    *VECTOR_APPEND(&words) = NULL;
    rc = process_run(&(struct process_request){.arguments = words.items,
                                               .program = check->context->program,
                                               .environment = environment,
                                               .timeout = check->timeout,
                                               .without_input = true},
                     &result, err);
    if (rc < 0)
        return rc;
    *ret = result.end != PROCESS_EXITED || result.code > 1 ? VERDICT_SKIP
           : result.code == 0                              ? VERDICT_PASS
                                                           : VERDICT_FAIL;
    if (ret_output != NULL)
        *ret_output = arena_strdup(arena, result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return 0;
}

/* Whether the other data are those of the reference: the model has no inputs, or values that do not depend on the seed.
 */
static int compare_data(const struct own_check *check, const char *inputs, bool *ret_same, struct error *err)
{
    struct hash first, other;
    int rc = file_content_hash(check->inputs, &first, err);

    if (rc == 0)
        rc = file_content_hash(inputs, &other, err);
    *ret_same = rc == 0 && hash_equal(first, other);
    return rc;
}

int other_data_repeat(const struct own_check *check, int64_t seed, const struct other_runs *runs,
                      struct other_data *ret, struct error *err)
{
    const struct parse *parse = check->context->parse;
    const char *inputs = own_check_path(check, OTHER_DATA_INPUTS);
    const char *reference = own_check_path(check, OTHER_DATA_REFERENCE);
    const char *number = arena_printf(parse_arena((struct parse *)parse), "%lld", (long long)seed + 1);
    const char *const save[] = {"--seed", number, "--save-inputs", inputs, "--save-outputs", reference};
    const char *const load[] = {"--load-inputs", inputs, "--load-outputs", reference};
    struct word_list making SCOPED_ITEMS = {0}, comparing SCOPED_ITEMS = {0};
    enum verdict verdict;
    bool is_same;
    int rc;

    *ret = (struct other_data){.seed = seed + 1};
    if (check->inputs == NULL || parse_given(parse, "--load-inputs") != NULL)
        return 0;
    data_loader_add_words(parse, &making);
    append_words(&making, save, ARRAY_LEN(save));
    rc = run_other(check, &runs->reference, &making, &verdict, &ret->why_not, err);
    if (rc < 0 || verdict != VERDICT_PASS)
        return rc;
    rc = compare_data(check, inputs, &is_same, err);
    if (rc < 0)
        return rc;
    if (is_same) {
        ret->why_not = "the generated data do not depend on the seed";
        return 0;
    }
    append_words(&comparing, load, ARRAY_LEN(load));
    parse_add_given_of_group(parse, &comparison_options, NULL, &comparing);
    own_check_add_equalities(parse, &comparing);
    rc = run_other(check, &runs->failing, &comparing, &ret->failing, NULL, err);
    if (rc == 0)
        rc = run_other(check, &runs->passing, &comparing, &ret->passing, NULL, err);
    ret->is_known = rc == 0;
    return rc;
}
