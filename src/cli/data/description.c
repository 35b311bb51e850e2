/* cli/data/description.c: see description.h. */
#include "cli/data/description.h"

#include "format/json/tensor.h"

void describe_data_read(struct result_file *result, const char *path, const struct data_file *file)
{
    json_writer_begin_object(&result->json);
    result_file_add_path(result, path);
    json_writer_add_count(&result->json, "runners", file->holds_results ? file->results.count : 0);
    json_writer_add_count(&result->json, "iterations",
                          !file->holds_results       ? file->feeds.count
                          : file->results.count == 0 ? 0
                                                     : file->results.items[0].count);
    json_writer_end_object(&result->json);
}

static void describe_iteration(struct json_writer *json, const struct tensor_list *tensors)
{
    json_writer_begin_array(json);
    for (size_t i = 0; i < tensors->count; i++) {
        json_writer_begin_object(json);
        json_writer_add_string(json, "name", tensors->items[i].name);
        tensor_json_type(json, &tensors->items[i].tensor);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

void describe_inputs_written(struct result_file *result, const char *path, const struct feed_dicts *feeds)
{
    struct json_writer *json = &result->json;

    json_writer_begin_object_member(json, "written");
    result_file_add_path(result, path);
    json_writer_begin_array_member(json, "iterations");
    for (size_t i = 0; i < feeds->count; i++)
        describe_iteration(json, &feeds->items[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

void describe_results_written(struct result_file *result, const char *path, const struct run_results *results)
{
    struct json_writer *json = &result->json;

    json_writer_begin_object_member(json, "written");
    result_file_add_path(result, path);
    json_writer_begin_array_member(json, "runners");
    for (size_t i = 0; i < results->count; i++) {
        json_writer_begin_object(json);
        json_writer_add_string(json, "name", results->items[i].name);
        json_writer_begin_array_member(json, "iterations");
        for (size_t k = 0; k < results->items[i].count; k++)
            describe_iteration(json, &results->items[i].items[k].outputs);
        json_writer_end_array(json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_end_object(json);
}
