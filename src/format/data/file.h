/* format/data/file.h: a file with arrays, whatever its format: one story for all that reads or writes data.
 *
 * The module format/data/ opens and writes such files: words of a command line come in (word.h), lists of tensors go
 * out. It knows which format a file has; the formats themselves are modules of their own: format/polygraphy/,
 * format/safetensors/, format/numpy/, and ONNX's TensorProto.
 *
 *   content                      iterations            names
 *   Polygraphy's JSON            those of the file     those of the file
 *   JSON lists                   [{...}, ...], or one  members: {"x": [[1, 2]]}; a list alone has none
 *   safetensors                  see safetensors.h     those of the file
 *   .npz                         one, or "0/x", "1/x"  those of the file
 *   .npy                         one                   none
 *   .pb, ONNX's TensorProto      one                   the tensor's, if it has one
 *   raw data                     one                   none
 *   folder of .npy               one                   of the files, see format/numpy/folder.h
 *   folder of input_0.pb, ...    one                   the tensors'; without, the inputs in their order
 *   folder of folders 0, 1, ...  one each              as above; ONNX's test_data_set_0, ... are such folders, too
 *
 * An array without a name is called what its file is, and marked (struct named_tensor). What a file is, is told from
 * its content, and from its name only for ".pb" and for files that are damaged.
 */
#ifndef FORMAT_DATA_FILE_H
#define FORMAT_DATA_FILE_H

#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

struct data_file {
    bool holds_results;
    struct run_results results; /* with holds_results */
    struct feed_dicts feeds;    /* otherwise */
};

/* Loads what `word` names, see word.h. ERR_INVALID for a file that holds no data in one of these formats, which the
 * message names. */
int data_file_load(struct data_file *ret, const char *word, struct error *err);
void data_file_release(struct data_file *file);

/* Appends the iterations of what `word` names to `feeds`. Arrays with a name of the word's own ("x:a.npy") go into one
 * iteration as long as they follow each other and their names differ. Results are refused, with a hint at `data
 * to-input`. On an error `feeds` is as before. */
int data_file_add_inputs(struct feed_dicts *feeds, const char *word, struct error *err);

/* Appends the results in what `word` names to `results`, for comparing with them: those of a file of results; or
 * arrays, as those of one runner, which is called like the file. Of ONNX's test data these are output_0.pb and so on.
 * JSON holds results only. On an error `results` is as before. */
int data_file_add_results(struct run_results *results, const char *word, struct error *err);

/* Writes input data in the format that the path's end chooses: ".npy" for a single array, ".npz", ".safetensors", a
 * folder for "/", and Polygraphy's JSON for any other. A file that is there is replaced; a folder goes only where there
 * is none, or an empty one: else ERR_EXISTS. ERR_INVALID for what the format cannot hold. */
int data_file_save(const struct feed_dicts *feeds, const char *path, struct error *err);

/* Whether data_file_save() would write arrays and nothing else to this path: ".npy", ".npz" or a folder. */
bool data_file_holds_arrays_only(const char *path);

#endif
