/* comparator/data/loader.h: what a model is fed: generated data, or data from files.
 *
 *   data_loader_new(&settings, log, &loader, err);
 *   for (i = 0; i < data_loader_iterations(loader); i++)
 *       data_loader_feed(loader, inputs, count, i, &feed, err);
 *
 * Generated data depend on the settings, on the inputs and on the iteration alone: iteration i is drawn from a
 * generator seeded with seed + i, in the order of the inputs. So that models with different inputs are fed alike,
 * data_loader_keep() generates everything once, for the inputs of the first of them; the others are then served from
 * that, by name.
 *
 * Data that were loaded or kept belong to inputs by their exact names. Only when an input's name is missing, another
 * entry is taken for it, with a warning, provided that it has the right type and shape, belongs to no other input, and
 * is the only one in question: the only one whose name holds the input's or is held by it, else the only one at all, at
 * the input's position. Anything less certain is an error, and so is all of it with `by_name`.
 *
 * The module comparator/data/ makes what models are fed: settings and a model's inputs come in, feed dicts go out, one
 * for each iteration, with the types and shapes that the model takes. It runs nothing.
 */
#ifndef COMPARATOR_DATA_LOADER_H
#define COMPARATOR_DATA_LOADER_H

#include "comparator/data/settings.h"
#include "format/polygraphy/feed_dicts.h"

#define DATA_LOADER_UNASKED ((size_t)1 << 30)

struct data_loader;

/* Loads the files. What the settings point to, and `log` (may be NULL), have to outlive the loader. */
int data_loader_new(const struct data_loader_settings *settings, struct log *log, struct data_loader **ret,
                    struct error *err);
void data_loader_free(struct data_loader *loader); /* NULL is fine */

/* Data are generated in these shapes from now on, whatever else is said of these inputs. The shapes, and the settings'
 * own, have to outlive the loader. */
void data_loader_prefer_shapes(struct data_loader *loader, const struct data_loader_shape *shapes, size_t count);

/* Appends the shapes of inputs for which a size is made up, because neither the user nor the model tells it: "x:[1,3]
 * y:[1]". False, and nothing, when there are none. */
bool data_loader_guesses(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                         struct string_builder *ret);

int64_t data_loader_iterations(const struct data_loader *loader);
bool data_loader_generates(const struct data_loader *loader); /* nothing was loaded */

/* Generates all iterations for these inputs and keeps them. Does nothing for loaded data, or the second time. Here and
 * in data_loader_feed() sizes are looked at before anything is generated, which is for a model that was accepted:
 * beyond what memory_limit() allows is ERR_MEMORY, and so is more than DATA_LOADER_UNASKED bytes for inputs whose
 * shapes only the model has told. */
int data_loader_keep(struct data_loader *loader, const struct backend_io *inputs, size_t count, struct error *err);

/* What was loaded or kept, for feed_dicts_save(). Belongs to the loader. */
const struct feed_dicts *data_loader_kept(const struct data_loader *loader);

/* Makes the feed dict of one iteration: exactly these inputs, in their order, with types and shapes that they take.
 * `ret` is empty on entry; its tensors may refer to the loader's data. ERR_INVALID when a shape given by the user does
 * not fit, when a range does not fit the type, or when loaded data lack an input; ERR_UNSUPPORTED for inputs that are
 * no tensors or whose type cannot be generated. */
int data_loader_feed(struct data_loader *loader, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err);

#endif
