/* backend/onnxrt/optimizers.h: which of ONNX Runtime's optimizers change a model.
 *
 * Only the log of a session tells, in a line for each optimizer and time that it is applied:
 *
 *   GraphTransformer ConstantFolding modified: 1 with status: OK
 *
 * The session configuration disables them by name: optimization.disable_specified_optimizers=A;B. A name that the
 * runtime does not know is ignored there without a word.
 */
#ifndef BACKEND_ONNXRT_OPTIMIZERS_H
#define BACKEND_ONNXRT_OPTIMIZERS_H

#include "base/container/arena.h"
#include "base/text/string_builder.h"

#define ONNXRT_DISABLED_OPTIMIZERS_KEY "optimization.disable_specified_optimizers"

/* In the order in which they are applied first. */
struct onnxrt_optimizers {
    struct onnxrt_optimizer {
        const char *name;
        bool has_changed; /* the model, at least once */
    } * items;
    size_t count, capacity;
    struct arena arena; /* of names */
};

void onnxrt_optimizers_init(struct onnxrt_optimizers *optimizers);
void onnxrt_optimizers_release(struct onnxrt_optimizers *optimizers);

/* Takes a message of the log into account; others than those above say nothing. */
void onnxrt_optimizers_read(struct onnxrt_optimizers *optimizers, const char *message);

/* Adds one, unless it is there; what has changed the model once stays so. Copies the name. */
void onnxrt_optimizers_add(struct onnxrt_optimizers *optimizers, struct text name, bool has_changed);

/* Adds all that release 1.30 has, as if they had changed the model: for one that cannot be loaded with them. */
void onnxrt_optimizers_suspect_all(struct onnxrt_optimizers *optimizers);

/* Of the optimizers that apply single rules, whose log tells only of the optimizer as a whole: the names of their
 * rules, by which these are disabled. NULL-terminated; NULL: it has none. */
const char *const *onnxrt_optimizer_rules(const char *name);

/* Whether release 1.30 has an optimizer, or a rule of one, of that name. Else adds to `instead` those that are close:
 * "; did you mean 'ConvAddFusion'?", or nothing. */
bool onnxrt_optimizer_is_known(const char *name, struct string_builder *instead);

#endif
