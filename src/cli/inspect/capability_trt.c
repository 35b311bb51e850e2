/* cli/inspect/capability_trt.c: see capability_trt.h. */
#include "cli/inspect/capability_trt.h"

#include "backend/tensorrt/backend.h"
#include "format/json/writer.h"

static int save_library(const struct tensorrt_description *library, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "name", library->name);
    json_writer_add_boolean(&writer, "rtx", library->is_rtx);
    json_writer_add_string(&writer, "path", library->path);
    json_writer_add_string(&writer, "chosen_since", library->reason);
    json_writer_add_string(&writer, "others", library->others);
    json_writer_add_boolean(&writer, "builds", library->builds);
    json_writer_add_string(&writer, "parser", library->parser);
    json_writer_add_string(&writer, "no_device", library->no_device);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static void show_library(const struct tensorrt_description *library, struct log *log)
{
    SCOPED_STRING(text);

    string_add_format(&text, "==== %s ====\n%s\nChosen since %s", library->name, library->path, library->reason);
    if (library->others != NULL)
        string_add_format(&text, "\nOther libraries: %s", library->others);
    string_add_format(&text, "\nBuilder: %s\nONNX parser: %s\nGPU: %s", library->builds ? "yes" : "no",
                      library->parser != NULL ? library->parser : "not found",
                      library->no_device != NULL ? library->no_device : "answers");
    log_text(log, LOG_INFO, (struct text){text.data, text.size});
}

int inspect_capability_trt(const struct command_context *context, const struct json_values *json, struct error *err)
{
    const struct tensorrt_description *library;
    int rc = tensorrt_find(context->log, &library, err);

    if (rc < 0)
        return rc;
    show_library(library, context->log);
    return json->path != NULL ? save_library(library, json->path, err) : 0;
}
