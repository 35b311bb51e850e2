/* cli/run/libraries.h: ONNX Runtime's libraries of the runners of `run`: each runner may have one of its own. */
#ifndef CLI_RUN_LIBRARIES_H
#define CLI_RUN_LIBRARIES_H

#include "backend/onnxrt/settings.h"
#include "comparator/infer/worker.h"
#include "format/json/writer.h"
#include "report/report.h"

/* Gives each library of ONNX Runtime a worker process (backend/onnxrt/apart/), which is started now, if there are
 * several; `ret_separate` says whether. `common` are the settings of runners without settings of their own. The log
 * gets the release that answers. Errors are those of loading a library. */
int run_libraries_separate(struct runner *runners, size_t count, const struct onnxrt_settings *common,
                           bool *ret_separate, struct log *log, struct error *err);

/* Writes "libraries": an object {"runner", "name", "version", "path"} for each runner that is ONNX Runtime. */
void run_libraries_write(const struct runner *runners, size_t count, const struct onnxrt_settings *common,
                         struct json_writer *json);

/* Adds the libraries to the environment on the page; `page` may be NULL. */
void run_libraries_add_to_page(const struct runner *runners, size_t count, const struct onnxrt_settings *common,
                               struct report *page);

#endif
