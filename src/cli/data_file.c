/* cli/data_file.c: see data_file.h. */
#include "cli/data_file.h"

int data_file_load(struct data_file *ret, const char *path, struct error *err)
{
    struct data_file file = {.holds_results = true};
    int rc = run_results_load(&file.results, path, err);

    if (rc == ERR_INVALID) {
        file.holds_results = false;
        rc = feed_dicts_load_any(&file.feeds, path, err);
    }
    if (rc == 0)
        *ret = file;
    return rc;
}

void data_file_release(struct data_file *file)
{
    run_results_release(&file->results);
    feed_dicts_release(&file->feeds);
}
