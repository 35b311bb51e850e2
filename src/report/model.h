/* report/model.h: a complete model as JSON: for programs, and for the page, which draws it. */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "format/json/writer.h"
#include "onnx/model/model.h"

struct report_model_settings {
    const char *path;                   /* of the model, as the member "path"; NULL: not written */
    const struct value_list *unbounded; /* tensors, as the member "unbounded_dds"; NULL: not written */
    bool values;                        /* of initializers and of tensors in attributes */
    bool statistics;                    /* of the same tensors */
    bool types;                         /* of tensors that nodes produce */
    bool ignore_external_data;          /* values and statistics of tensors in the file alone */
};

/* Writes one object: the main graph, with attributes and bodies of its nodes, and the functions. ERR_CORRUPT, ERR_IO
 * and others when a body, a function or external data cannot be read; the object is complete, but not the model. */
int report_model_write(struct model *model, const struct report_model_settings *settings, struct json_writer *json,
                       struct error *err);

#endif
