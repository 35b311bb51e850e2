/* format/polygraphy/run_results.h: inference results as `run --save-outputs` writes them: for each runner, for each
 * iteration, the outputs by name. Files are Polygraphy's JSON, or safetensors (format/safetensors/safetensors.h):
 * reading detects the format from the content, writing selects it by the name.
 *
 * The module format/polygraphy/ contains Polygraphy's files as structs that can be read and written: results, input
 * data, replays, reports. It depends on the other modules of format/ and on tensor/.
 */
#ifndef FORMAT_POLYGRAPHY_RUN_RESULTS_H
#define FORMAT_POLYGRAPHY_RUN_RESULTS_H

#include "format/json/writer.h"
#include "format/polygraphy/array_archive.h"
#include "tensor/values/tensor.h"

struct iteration_result {
    struct tensor_list outputs; /* in the runner's order */
    double runtime;             /* seconds; NaN if the file has null */
    char *runner_name;          /* owned */
};

struct runner_results {
    char *name; /* owned; names may repeat within a file */
    struct iteration_result *items;
    size_t count, capacity;
};

struct run_results {
    struct runner_results *items;
    size_t count, capacity;
};

void run_results_release(struct run_results *results);
struct runner_results *run_results_add_runner(struct run_results *results, struct text name);
struct iteration_result *runner_results_add_iteration(struct runner_results *runner, double runtime);

/* Appends the results in a file: any layout of Polygraphy, old ones included. Arrays are decoded from the mapped file
 * into their tensors; those of a safetensors file refer to its mapping. On an error `results` is unchanged; ERR_INVALID
 * if the file contains no results. */
int run_results_load(struct run_results *results, const char *path, struct error *err);

/* Like run_results_load(), for an open JSON file. On an error `results` may contain a part. */
int run_results_read(struct run_results *results, struct json_reader *reader, struct error *err);

/* Like run_results_load(), for a JSON file of `size` bytes in memory; `name` is for messages. */
int run_results_parse(struct run_results *results, const void *data, size_t size, const char *name, struct error *err);

/* Appends the iteration that a piece of such a file contains. */
int runner_results_parse_iteration(struct runner_results *runner, struct text json, const char *name,
                                   struct error *err);

/* Appends the results of an archive; one without runners is one, named after its file. ERR_INVALID for inputs. On an
 * error `results` may contain a part. */
int run_results_add_archive(struct run_results *results, struct array_archive *archive, struct error *err);

/* Writes the whole file at once, durably. */
int run_results_save(const struct run_results *results, const char *path, struct error *err);

struct written_runner {
    char *name; /* owned */
    struct {
        double *items; /* seconds; NaN where unknown */
        size_t count, capacity;
    } runtimes; /* so far; for safetensors, whose metadata they are */
};

/* Writes the file incrementally, so that outputs can be released as soon as they are written. Runners may be written
 * one after the other, or alternately with run_results_writer_select(): begun together, ended in their order. In a JSON
 * file the iterations of a runner stand together; so those of the second and further runners go to temporary files
 * first. */
struct run_results_writer {
    bool is_safetensors;
    char *path; /* owned */
    struct json_writer json;
    struct json_writer *parts; /* of the runners that are written alternately, without their heads; the first one is
                                  unused, it goes to `json` */
    size_t part_count, part_capacity;
    struct safetensors_writer tensors;
    struct written_runner *runners;
    size_t runner_count, runner_capacity;
    size_t current; /* index of the current runner */
    size_t ended;   /* runners */
};

int run_results_writer_open(struct run_results_writer *writer, const char *path, struct error *err);

/* Announces the number of outputs and bytes of names, if known before the first output; it only makes writing
 * faster. */
void run_results_writer_expect(struct run_results_writer *writer, size_t outputs, size_t name_bytes);

int run_results_writer_begin_runner(struct run_results_writer *writer, const char *name, struct error *err);
int run_results_writer_begin_iteration(struct run_results_writer *writer, struct error *err);
int run_results_writer_add(struct run_results_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err);
int run_results_writer_end_iteration(struct run_results_writer *writer, double runtime, const char *runner_name,
                                     struct error *err);
int run_results_writer_end_runner(struct run_results_writer *writer, struct error *err); /* the first open one */

/* Selects the runner with index `runner`, so that several can be written alternately. */
void run_results_writer_select(struct run_results_writer *writer, size_t runner);

int run_results_writer_commit(struct run_results_writer *writer, enum file_durability durability, struct error *err);
void run_results_writer_release(struct run_results_writer *writer);

#endif
