/* backend/trtexec/build.c: see build.h. */
#include "backend/trtexec/build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/trtexec/build_route.h"
#include "backend/trtexec/engine_notes.h"
#include "backend/trtexec/job.h"
#include "base/file/file.h"
#include "format/trtexec/plan_header.h"

#define LOG_NAME "build.log"

void trtexec_products_release(struct trtexec_products *products)
{
    if (products->folder != NULL)
        file_remove_tree(products->folder, NULL);
    free(products->folder);
    free(products->engine);
    free(products->layers);
    free(products->log);
    free(products->timing_cache);
    arena_release(&products->arena);
    *products = (struct trtexec_products){0};
}

/* ---- Files that trtexec reads, and may write ---- */

/* A copy for trtexec, which rewrites caches as it likes. */
static int lend(const struct trtexec_products *products, const char *path, const char *name, struct error *err)
{
    char *to;
    int rc;

    if (path == NULL || !file_exists(path))
        return 0;
    to = file_join(products->folder, name);
    rc = file_copy(path, to, FILE_INTERMEDIATE, err);
    free(to);
    return rc;
}

/* Without scales that TensorRT can read, trtexec takes them at random. */
static int lend_calibration(const struct trtexec_products *products, const struct tensorrt_settings *settings,
                            struct error *err)
{
    static const char beginning[] = "TRT-";
    const char *path = settings->calibration_cache;
    char start[sizeof(beginning) - 1];

    if (path == NULL || !settings->int8 || settings->strongly_typed)
        return 0;
    if (file_read_start(path, start, sizeof(start)) != sizeof(start) || memcmp(start, beginning, sizeof(start)) != 0)
        return error_set(err, ERR_INVALID,
                         "--calibration-cache: '%s' is not there, or no calibration cache, whose first line begins "
                         "with '%s': trtexec, which does not calibrate, would take scales at random",
                         path, beginning);
    return lend(products, path, TRTEXEC_CALIBRATION, err);
}

/* ---- What came of it ---- */

static int check_engine(const struct trtexec_products *products, const struct tensorrt_settings *settings,
                        struct error *err)
{
    struct plan_header header;
    struct string_builder program;

    if (plan_header_read(products->engine, &header, err) == 0)
        return 0;
    string_init(&program);
    trtexec_describe(settings->program, &program);
    error_set(err, ERR_BACKEND,
              "%s says that it has built an engine, but what it has left is none; -vvvv shows all that "
              "it says",
              program.data);
    string_release(&program);
    return ERR_BACKEND;
}

/* Also with obey, TensorRT only mentions it in passing. */
static void warn_of_layers(const struct tensorrt_settings *settings, const struct trtexec_report *report)
{
    struct string_builder names;
    size_t count = report->other_layers.count;

    if (count == 0)
        return;
    string_init(&names);
    for (size_t i = 0; i < count && i < 10; i++) {
        string_add(&names, i > 0 ? ", " : "");
        string_add_visible(&names, text_of(report->other_layers.items[i]));
    }
    log_message(settings->log, LOG_WARNING,
                "TensorRT did not keep to the precision that was asked for in %zu layer%s: %s%s", count,
                count == 1 ? "" : "s", names.data, count > 10 ? ", ..." : "");
    string_release(&names);
}

static const char *what(const struct tensorrt_settings *settings)
{
    return settings->effort.error_on_timing_cache_miss
               ? "TensorRT could not build an engine with the times of the timing cache alone"
               : "TensorRT could not build an engine";
}

/* trtexec goes on with no times at all, and says that it passed. */
static int check_cache(const struct tensorrt_settings *settings, const struct trtexec_report *report, struct error *err)
{
    const char *path = settings->load_timing_cache;

    if (path == NULL || !report->lost_timing_cache || !file_exists(path))
        return 0;
    if (settings->effort.error_on_timing_cache_miss)
        return error_set(err, ERR_INVALID,
                         "TensorRT has taken no times from '%s': it is damaged, of another version or device, or no "
                         "timing cache",
                         path);
    log_message(settings->log, LOG_WARNING,
                "TensorRT has taken no times from '%s', which is damaged, of another version or device, or no timing "
                "cache: all tactics were timed anew",
                path);
    return 0;
}

static int keep_log(const struct trtexec_products *products, const struct trtexec_job *job, struct error *err)
{
    return file_write(products->log, job->result.out.data, job->result.out.size, FILE_INTERMEDIATE, err);
}

static int run_build(const struct tensorrt_settings *settings, const struct trtexec_words *words,
                     struct trtexec_products *products, struct error *err)
{
    struct trtexec_job job = {0};
    int rc = trtexec_job_run(words, products->folder, &job, err);

    if (rc < 0)
        return rc;
    products->seconds = job.result.seconds;
    products->set_layers = job.report.set_layers.count;
    products->lost_timing_cache = job.report.lost_timing_cache;
    warn_of_layers(settings, &job.report);
    if (trtexec_job_check(&job, settings->program, what(settings), err) < 0 ||
        check_engine(products, settings, err) < 0 ||
        trtexec_layers_check(&products->network.layers, &job.report, err) < 0 ||
        check_cache(settings, &job.report, err) < 0 || keep_log(products, &job, err) < 0)
        rc = err->code;
    trtexec_job_release(&job);
    return rc;
}

static void warn_of_types(const struct tensorrt_settings *settings)
{
    if (settings->strongly_typed &&
        (settings->fp16 || settings->bf16 || settings->int8 || settings->fp8 || settings->layer_precisions.count > 0))
        log_message(settings->log, LOG_WARNING,
                    "No layer is lowered: with --strongly-typed, types are those of the model, whatever precisions are "
                    "asked for");
}

static void name_files(struct trtexec_products *products)
{
    products->engine = file_join(products->folder, TRTEXEC_ENGINE);
    products->layers = file_join(products->folder, TRTEXEC_LAYERS);
    products->log = file_join(products->folder, LOG_NAME);
    products->timing_cache = file_join(products->folder, TRTEXEC_TIMING_CACHE);
}

/* Whoever runs the engine later need not ask then. */
static void note_engine(const struct trtexec_products *products)
{
    struct io_list inputs = {0}, outputs = {0};

    io_list_take(&products->network.inputs, &inputs);
    io_list_take(&products->network.outputs, &outputs);
    engine_notes_save(products->engine, &inputs, &outputs);
    io_list_release(&inputs);
    io_list_release(&outputs);
}

int trtexec_build(const struct tensorrt_settings *settings, const struct backend_model *source,
                  struct trtexec_products *ret, struct error *err)
{
    struct trtexec_words words;
    int rc;

    *ret = (struct trtexec_products){0};
    trtexec_words_init(&words, settings, &ret->arena);
    warn_of_types(settings);
    rc = file_make_temporary_folder("trtexec", &ret->folder, err);
    if (rc < 0)
        goto done;
    name_files(ret);
    rc = trtexec_network_make(settings, source, ret->folder, &ret->arena, &ret->network, err);
    if (rc < 0)
        goto done;
    trtexec_words_add_build(&words, &ret->network);
    rc = trtexec_words_finish(&words, err);
    if (rc < 0)
        goto done;
    rc = trtexec_check_route(settings, err);
    if (rc < 0)
        goto done;
    rc = lend(ret, settings->load_timing_cache, TRTEXEC_TIMING_CACHE, err);
    if (rc < 0)
        goto done;
    rc = lend_calibration(ret, settings, err);
    if (rc < 0)
        goto done;
    rc = run_build(settings, &words, ret, err);
    if (rc == 0 && !file_exists(ret->timing_cache)) {
        free(ret->timing_cache);
        ret->timing_cache = NULL;
    }
    if (rc == 0)
        note_engine(ret);
done:
    trtexec_words_release(&words);
    if (rc < 0)
        trtexec_products_release(ret);
    return rc;
}
