/* comparator/data/loader.h: provides input data of a model: generated, or from files.
 *
 *   data_loader_new(&settings, log, &loader, err);
 *   for (i = 0; i < data_loader_iterations(loader); i++)
 *       data_loader_feed(loader, inputs, count, i, &feed, err);
 *
 * Generated data depend only on the settings, the inputs and the iteration: iteration i uses a generator seeded with
 * seed + i, in the order of the inputs. To feed the same data to models with different inputs, data_loader_keep()
 * generates everything once for the inputs of the first model; the others get these data by name.
 *
 * Loaded and kept data are assigned to inputs by exact name. If an input's name is missing, another entry is used with
 * a warning, provided that it has the right type and shape, belongs to no other input, and is the only candidate: the
 * only one whose name contains the input's or is contained in it, else the only one at all, at the input's position.
 * Otherwise, and always with `by_name`, a missing name is an error.
 *
 * The module comparator/data/ contains loading and generation of input data: one feed dict for each iteration, with
 * types and shapes that the model accepts. It runs no models.
 */
#ifndef COMPARATOR_DATA_LOADER_H
#define COMPARATOR_DATA_LOADER_H

#include "comparator/data/settings.h"
#include "format/polygraphy/feed_dicts.h"
#include "onnx/inputs/derived_inputs.h"

#define DATA_LOADER_UNASKED ((size_t)1 << 30)

struct data_loader;

/* Loads the files. Data referenced by `settings`, and `log` (may be NULL), must outlive the loader. */
int data_loader_new(const struct data_loader_settings *settings, struct log *log, struct data_loader **ret,
                    struct error *err);
void data_loader_free(struct data_loader *loader); /* accepts NULL */

/* From now on data are generated with sizes and values derived from the model (onnx/inputs/derived_inputs.h) if it does
 * not run with the defaults, or if representative data were asked for. The user's shapes and ranges have priority.
 * Logs one line for each input with a rule. Does nothing for loaded data. */
void data_loader_derive(struct data_loader *loader, const struct model *model);

/* Whether data are generated with derived sizes and values, which need not be valid (the rules are not complete).
 * False also for a model whose inputs allow any data. */
bool data_loader_derives(const struct data_loader *loader);

/* What was derived by data_loader_derive(), also if it is not used; without items if nothing was. Owned by the
 * loader. */
const struct derived_inputs *data_loader_derived(const struct data_loader *loader);

/* Appends the shapes of inputs with a default size, because neither the user nor the model specifies it: "x:[1,3]
 * y:[1]". False, and appends nothing, if there are none. */
bool data_loader_guesses(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                         struct string_builder *ret);

/* The shape that the user has given for an input; NULL: none. Owned by the settings. */
const struct shape *data_loader_given_shape(const struct data_loader *loader, const char *name);

int64_t data_loader_iterations(const struct data_loader *loader);
bool data_loader_generates(const struct data_loader *loader); /* nothing was loaded */

/* Generates all iterations for these inputs and keeps them. Does nothing for loaded data, or when called again. Here
 * and in data_loader_feed() sizes are checked before data are generated: ERR_MEMORY beyond memory_limit(), and for more
 * than DATA_LOADER_UNASKED bytes for inputs whose shapes were specified by the model only. */
int data_loader_keep(struct data_loader *loader, const struct backend_io *inputs, size_t count, struct error *err);

/* Loads an iteration, or generates it for these inputs, and keeps it instead of the previous one: data_loader_feed()
 * then serves it to models with other inputs, too. `ret`: all that is there, for saving. With data that are streamed,
 * feed dicts of another iteration become invalid. */
int data_loader_hold(struct data_loader *loader, const struct backend_io *inputs, size_t count, int64_t iteration,
                     const struct tensor_list **ret, struct error *err);

/* From now on the only iteration has these data, which must outlive the loader. */
void data_loader_replace(struct data_loader *loader, const struct tensor_list *feed);

/* The loaded or kept data, for feed_dicts_save(). Owned by the loader. */
const struct feed_dicts *data_loader_kept(const struct data_loader *loader);

/* Provides the feed dict of one iteration: exactly these inputs, in their order, with suitable types and shapes. `ret`
 * is empty on entry; its tensors may refer to the loader's data. ERR_INVALID if a shape from the user or a range does
 * not fit, or if loaded data lack an input; ERR_UNSUPPORTED for inputs that are not tensors or whose type cannot be
 * generated. */
int data_loader_feed(struct data_loader *loader, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err);

#endif
