/* onnx/model/text.h: text about models and tensors for the log. Scripts parse these lines. */
#ifndef ONNX_MODEL_TEXT_H
#define ONNX_MODEL_TEXT_H

#include "base/log.h"
#include "base/text/string_builder.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/value_info.h"

/* Appends "name [dtype=float32, shape=('batch', 3)]": dynamic dimensions are shown as -1 or by their names; unknown
 * parts are left out. */
void tensor_line(struct string_builder *out, struct text name, const struct value_type *type);

/* Appends "; did you mean 'a' or 'b'?" with tensors whose names are close to one that the model does not have, or
 * nothing. */
void tensor_suggestion(struct string_builder *out, const struct model *model, struct text wanted);

/* Sets ERR_INVALID for a name that no tensor of the model has, with suggestions of similar names. */
int tensor_refuse_unknown(const struct model *model, struct text name, struct error *err);

/* "Name: <graph> | ONNX Opset: 13 | Other Opsets: {'custom': 1}". */
void model_headline(struct string_builder *out, const struct model *model);

/* "{a [...],\n b [...]}", or "{}". */
void tensor_block(struct string_builder *out, const struct subgraph *subgraph, const struct value_list *values);

/* "[Variable (add_out_4): (shape=[1], dtype=float32)]" as in `Marking model outputs: [...]`. */
void variable_list_text(struct string_builder *out, const struct subgraph *subgraph, const struct value_list *values);

/* The summary after `Minimum Bad Model:`: name and opset, inputs, outputs, counts. The log shows an empty line after
 * it. */
void subgraph_summary(struct string_builder *out, const struct subgraph *subgraph);
void subgraph_log_summary(struct log *log, const char *title, const struct subgraph *subgraph);

#endif
