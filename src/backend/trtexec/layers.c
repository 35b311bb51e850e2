/* backend/trtexec/layers.c: see layers.h. */
#include "backend/trtexec/layers.h"

#include <stdlib.h>
#include <unistd.h>

#include "backend/trtexec/job.h"
#include "base/file/file.h"

static void add_layer_words(struct trtexec_words *words)
{
    const struct trtexec *program = words->settings->program;

    trtexec_words_add(words, program->path);
    trtexec_words_add(words, "--loadEngine=" TRTEXEC_ENGINE);
    trtexec_words_add(words, "--exportLayerInfo=" TRTEXEC_LAYERS);
    trtexec_words_add(words, "--profilingVerbosity=detailed");
    trtexec_words_add(words, trtexec_has(program, "--skipInference") ? "--skipInference" : "--buildOnly");
}

/* Names in the command line are those of a private folder, whatever the engine is called. */
static int link_engine(const char *path, const char *folder, struct error *err)
{
    char *target = file_real_path(path);
    char *name = file_join(folder, TRTEXEC_ENGINE);
    int rc = 0;

    if (target == NULL)
        rc = error_set_errno(err, ERR_MISSING, "cannot find '%s'", path);
    else if (symlink(target, name) != 0)
        rc = error_set_errno(err, ERR_IO, "cannot make '%s'", name);
    free(target);
    free(name);
    return rc;
}

/* An engine that TensorRT does not take passes where no inference follows: it leaves errors, and no layers. */
static int read_layers(const struct trtexec_job *job, const struct trtexec *program, const char *folder,
                       struct layer_info *ret, struct error *err)
{
    char *path = file_join(folder, TRTEXEC_LAYERS);
    struct error why = {0};
    int rc = trtexec_job_check(job, program, "TensorRT could not load the engine", err);

    if (rc == 0 && !file_exists(path))
        rc = error_set(err, ERR_BACKEND, "TensorRT could not load the engine: it tells no layers%s%s",
                       job->report.errors.size > 0 ? ", but says: " : "",
                       job->report.errors.size > 0 ? job->report.errors.data : "");
    if (rc == 0 && layer_info_open(ret, path, &why) < 0)
        rc = error_set(err, ERR_BACKEND, "what TensorRT tells of the engine's layers cannot be read: %s", why.message);
    free(path);
    return rc;
}

int trtexec_ask_layers(const struct trtexec *program, const char *path, struct log *log, struct layer_info *ret,
                       struct error *err)
{
    const struct tensorrt_settings settings = {.program = program, .log = log};
    struct trtexec_job job = {0};
    struct trtexec_words words;
    struct arena arena;
    char *folder;
    int rc = file_make_temporary_folder("trtexec", &folder, err);

    if (rc < 0)
        return rc;
    arena_init(&arena);
    trtexec_words_init(&words, &settings, &arena);
    rc = link_engine(path, folder, err);
    if (rc < 0)
        goto done;
    add_layer_words(&words);
    rc = trtexec_words_finish(&words, err);
    if (rc < 0)
        goto done;
    rc = trtexec_job_run(&words, folder, &job, err);
    if (rc < 0)
        goto done;
    rc = read_layers(&job, program, folder, ret, err);
done:
    trtexec_job_release(&job);
    trtexec_words_release(&words);
    arena_release(&arena);
    file_remove_tree(folder, NULL);
    free(folder);
    if (rc < 0)
        error_context(err, "'%s'", path);
    return rc;
}
