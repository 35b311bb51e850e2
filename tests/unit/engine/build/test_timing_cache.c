/* Timing caches: what a key depends on, files, and what is no such file. */
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "engine/build/timing_cache.h"

static struct hash key_of(unsigned number)
{
    return hash_bytes(&number, sizeof(number));
}

static void test_remembers_what_was_added(void **state)
{
    struct timing_cache *cache = timing_cache_new();
    double seconds = 0;

    assert_false(timing_cache_find(cache, key_of(0), &seconds));
    for (unsigned i = 0; i < 1000; i++)
        timing_cache_add(cache, key_of(i), i);
    timing_cache_add(cache, key_of(7), 0.5);
    assert_int_equal(timing_cache_count(cache), 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(timing_cache_find(cache, key_of(i), &seconds));
        assert_true(seconds == (i == 7 ? 0.5 : i));
    }
    assert_false(timing_cache_find(cache, key_of(1000), &seconds));
    timing_cache_free(cache);
}

static void test_a_file_gives_back_every_bit(void **state)
{
    struct timing_cache *cache = timing_cache_new(), *loaded = timing_cache_new();
    struct error error = {0};
    double seconds = 0;

    timing_cache_add(cache, key_of(1), 1.0 / 3);
    timing_cache_add(cache, key_of(2), TIMING_FAILED);
    timing_cache_add(loaded, key_of(1), 5);
    timing_cache_add(loaded, key_of(3), 7);
    assert_int_equal(timing_cache_save(cache, "times.cache", &error), 0);
    assert_int_equal(timing_cache_load(loaded, "times.cache", &error), 0);
    assert_int_equal(timing_cache_count(loaded), 3);
    assert_true(timing_cache_find(loaded, key_of(1), &seconds) && seconds == 1.0 / 3);
    assert_true(timing_cache_find(loaded, key_of(2), &seconds) && seconds == TIMING_FAILED);
    assert_true(timing_cache_find(loaded, key_of(3), &seconds) && seconds == 7);
    timing_cache_free(cache);
    timing_cache_free(loaded);
}

static void test_saving_adds_to_what_the_file_holds(void **state)
{
    struct timing_cache *cache = timing_cache_new(), *empty = timing_cache_new(), *loaded = timing_cache_new();
    struct error error = {0};
    double seconds = 0;

    timing_cache_add(cache, key_of(1), 1);
    timing_cache_add(cache, key_of(2), 2);
    assert_int_equal(timing_cache_save(cache, "times.cache", &error), 0);
    assert_int_equal(timing_cache_save(empty, "times.cache", &error), 0);
    timing_cache_add(empty, key_of(2), 3);
    assert_int_equal(timing_cache_save(empty, "times.cache", &error), 0);
    assert_int_equal(timing_cache_load(loaded, "times.cache", &error), 0);
    assert_int_equal(timing_cache_count(loaded), 2);
    assert_true(timing_cache_find(loaded, key_of(1), &seconds) && seconds == 1);
    assert_true(timing_cache_find(loaded, key_of(2), &seconds) && seconds == 3);
    assert_int_equal(scratch_count("."), 1); /* no lock stays behind */
    timing_cache_free(cache);
    timing_cache_free(empty);
    timing_cache_free(loaded);
}

static void test_what_is_no_timing_cache_is_not_overwritten(void **state)
{
    struct timing_cache *cache = timing_cache_new();
    struct error error = {0};

    timing_cache_add(cache, key_of(1), 1);
    scratch_file("notes.json", "{\"a\": 1}");
    assert_int_equal(timing_cache_check("notes.json", &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "'notes.json'"));
    assert_int_equal(timing_cache_save(cache, "notes.json", &error), ERR_INVALID);
    assert_true(scratch_file_is("notes.json", "{\"a\": 1}"));
    scratch_file("engine.bin", "\x01\x02");
    assert_int_equal(timing_cache_check("engine.bin", &error), ERR_CORRUPT);
    assert_non_null(strstr(error.message, "not a timing cache"));
    assert_int_equal(timing_cache_check("not there", &error), 0);
    assert_true(timing_cache_check(".", &error) < 0);
    timing_cache_free(cache);
}

/* What a process leaves that is killed between making the file and filling it; or mktemp. */
static void test_an_empty_file_is_a_cache_without_times(void **state)
{
    struct timing_cache *cache = timing_cache_new();
    struct error error = {0};

    scratch_file("empty", "");
    assert_int_equal(timing_cache_load(cache, "empty", &error), 0);
    assert_int_equal(timing_cache_count(cache), 0);
    timing_cache_add(cache, key_of(1), 1);
    assert_int_equal(timing_cache_save(cache, "empty", &error), 0);
    assert_int_equal(timing_cache_load(cache, "empty", &error), 0);
    assert_int_equal(timing_cache_load(cache, "not there", &error), ERR_MISSING);
    timing_cache_free(cache);
}

#define SAVERS 6
#define SAVES 10

/* One of several builds at a time: each time it saves, it knows nothing of what the others have saved. */
static int save_again_and_again(unsigned saver)
{
    struct error error = {0};
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < SAVES; i++) {
        struct timing_cache *cache = timing_cache_new();

        timing_cache_add(cache, key_of(saver * SAVES + i), saver);
        rc = timing_cache_save(cache, "times.cache", &error);
        timing_cache_free(cache);
    }
    return rc == 0 ? 0 : 1;
}

static void test_processes_that_save_at_a_time_lose_nothing(void **state)
{
    struct timing_cache *loaded = timing_cache_new();
    pid_t savers[SAVERS];
    struct error error = {0};

    for (unsigned i = 0; i < SAVERS; i++) {
        savers[i] = fork();
        assert_true(savers[i] >= 0);
        if (savers[i] == 0)
            _exit(save_again_and_again(i));
    }
    for (unsigned i = 0; i < SAVERS; i++) {
        int status = -1;

        assert_int_equal(waitpid(savers[i], &status, 0), savers[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(timing_cache_load(loaded, "times.cache", &error), 0);
    assert_int_equal(timing_cache_count(loaded), SAVERS * SAVES);
    timing_cache_free(loaded);
}

static void test_a_killed_process_leaves_no_lock(void **state)
{
    struct timing_cache *cache = timing_cache_new();
    struct error error = {0};
    int status, pipe_ends[2];
    pid_t holder;
    char byte;

    assert_int_equal(pipe(pipe_ends), 0);
    holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        int lock;

        if (file_lock("times.cache", FILE_LOCK_TO_CHANGE, &lock, NULL) == 0 && write(pipe_ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1); /* it has the lock now */
    close(pipe_ends[0]);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    timing_cache_add(cache, key_of(1), 1);
    assert_int_equal(timing_cache_save(cache, "times.cache", &error), 0);
    assert_int_equal(scratch_count("."), 1);
    timing_cache_free(cache);
}

static void assert_refused(const char *text, int code, const char *part)
{
    struct timing_cache *cache = timing_cache_new();
    struct error error = {0};
    struct span bytes = {(const uint8_t *)text, strlen(text)};

    assert_int_equal(timing_cache_parse(cache, bytes, "some.cache", &error), code);
    assert_non_null(strstr(error.message, "some.cache"));
    if (!strstr(error.message, part))
        fail_msg("%s", error.message);
    assert_int_equal(timing_cache_count(cache), 0);
    timing_cache_free(cache);
}

#define KEY "00112233445566778899aabbccddeeff"

static void test_refuses_what_is_no_timing_cache(void **state)
{
    assert_refused("", ERR_CORRUPT, "byte");
    assert_refused("ptrt\1\2", ERR_CORRUPT, "byte 0");
    assert_refused("{\"polygraphy_timing_cache\": 1, \"sec", ERR_CORRUPT, "byte");
    assert_refused("[]", ERR_INVALID, "no timing cache");
    assert_refused("{\"replay\": {}}", ERR_INVALID, "no timing cache");
    assert_refused("{\"polygraphy_timing_cache\": 2, \"seconds\": {}}", ERR_INVALID, "another version");
    assert_refused("{\"polygraphy_timing_cache\": 1}", ERR_CORRUPT, "'seconds'");
    assert_refused("{\"polygraphy_timing_cache\": 1, \"seconds\": {\"" KEY "\": 1, \"x\": 1}}", ERR_CORRUPT, "'x'");
    assert_refused("{\"polygraphy_timing_cache\": 1, \"seconds\": {\"" KEY "\": -1}}", ERR_CORRUPT, KEY);
    assert_refused("{\"polygraphy_timing_cache\": 1, \"seconds\": {\"" KEY "\": NaN}}", ERR_CORRUPT, KEY);
    assert_refused("{\"polygraphy_timing_cache\": 1, \"seconds\": {\"" KEY "\": \"1\"}}", ERR_CORRUPT, KEY);
}

/* ---- Keys ---- */

/* The first two nodes of chain17: equal but for names. */
struct chain {
    struct network network;
    struct layer layers[2];
    struct kernel_input input;
    struct kernel_request request;
    struct tactic_provider provider;
    struct tactic tactic;
    struct layout layout;
};

static void chain_init(struct chain *chain)
{
    struct model *model = fixture_open("chain17");

    *chain = (struct chain){.network = {.model = model}};
    for (uint32_t i = 0; i < 2; i++) {
        struct layer *layer = &chain->layers[i];

        *VECTOR_APPEND(&layer->nodes) = i;
        *VECTOR_APPEND(&layer->inputs) = model_edge(model, model->nodes.items[i].inputs, 0);
        *VECTOR_APPEND(&layer->outputs) = model_edge(model, model->nodes.items[i].outputs, 0);
    }
    chain->layers[0].name = memory_strdup("one");
    chain->layers[1].name = memory_strdup("another");
    chain->input = (struct kernel_input){.present = true, .type = DATA_FLOAT32, .shape = {.rank = 1, .dims = {8}}};
    chain->request = (struct kernel_request){
        .network = &chain->network, .layer = &chain->layers[0], .inputs = &chain->input, .threads = 2};
    chain->provider = (struct tactic_provider){.name = "fake", .version = "1"};
    chain->tactic = (struct tactic){.provider = &chain->provider, .name = "plain", .input_layouts = &chain->layout};
}

static void chain_release(struct chain *chain)
{
    for (size_t i = 0; i < 2; i++) {
        free(chain->layers[i].name);
        free(chain->layers[i].nodes.items);
        free(chain->layers[i].inputs.items);
        free(chain->layers[i].outputs.items);
    }
    model_free(chain->network.model);
}

static bool same_key(const struct chain *chain, struct hash key)
{
    return hash_equal(timing_cache_key(&chain->request, &chain->tactic), key);
}

static void test_layers_that_compute_the_same_share_a_key(void **state)
{
    struct chain chain;
    struct hash key;

    chain_init(&chain);
    key = timing_cache_key(&chain.request, &chain.tactic);
    chain.request.layer = &chain.layers[1];
    assert_true(same_key(&chain, key));
    chain_release(&chain);
}

static void test_a_key_depends_on_all_that_time_depends_on(void **state)
{
    struct chain chain;
    int64_t constant = 5;
    struct hash key;

    chain_init(&chain);
    key = timing_cache_key(&chain.request, &chain.tactic);
    chain.input.shape.dims[0] = 9;
    assert_false(same_key(&chain, key));
    chain.input.shape.dims[0] = 8;
    chain.input.type = DATA_INT64;
    assert_false(same_key(&chain, key));
    chain.input.type = DATA_FLOAT32;
    snprintf(chain.input.layout.text, sizeof(chain.input.layout.text), "%s", "A8a");
    assert_false(same_key(&chain, key));
    snprintf(chain.input.layout.text, sizeof(chain.input.layout.text), "%s", "a"); /* row-major has several names */
    assert_true(same_key(&chain, key));
    chain.request.threads = 1;
    assert_false(same_key(&chain, key));
    chain.request.threads = 2;
    chain.provider.version = "2";
    assert_false(same_key(&chain, key));
    chain.provider.version = "1";
    chain.provider.name = "other";
    assert_false(same_key(&chain, key));
    chain.provider.name = "fake";
    snprintf(chain.tactic.name, sizeof(chain.tactic.name), "%s", "fancy");
    assert_false(same_key(&chain, key));
    snprintf(chain.tactic.name, sizeof(chain.tactic.name), "%s", "plain");
    snprintf(chain.layout.text, sizeof(chain.layout.text), "%s", "A8a");
    assert_false(same_key(&chain, key));
    chain.layout.text[0] = '\0';
    chain.input.constant = &constant;
    assert_false(same_key(&chain, key));
    chain.input.constant = NULL;
    assert_true(same_key(&chain, key));
    chain_release(&chain);
}

static void test_values_of_small_integer_constants_count(void **state)
{
    struct chain chain;
    int64_t constant[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct hash key;

    chain_init(&chain);
    chain.input.type = DATA_INT64;
    chain.input.constant = constant;
    key = timing_cache_key(&chain.request, &chain.tactic);
    assert_true(same_key(&chain, key));
    constant[3] = 9;
    assert_false(same_key(&chain, key));
    chain_release(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remembers_what_was_added),
        cmocka_unit_test_setup_teardown(test_a_file_gives_back_every_bit, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(test_saving_adds_to_what_the_file_holds, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(test_what_is_no_timing_cache_is_not_overwritten, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(test_an_empty_file_is_a_cache_without_times, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(test_processes_that_save_at_a_time_lose_nothing, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(test_a_killed_process_leaves_no_lock, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test(test_refuses_what_is_no_timing_cache),
        cmocka_unit_test(test_layers_that_compute_the_same_share_a_key),
        cmocka_unit_test(test_a_key_depends_on_all_that_time_depends_on),
        cmocka_unit_test(test_values_of_small_integer_constants_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
