/* format/data/file.h: a file with arrays, in any supported format, for all commands that read or write data.
 *
 * The module format/data/ reads and writes such files: it parses arguments of the command line (word.h), detects the
 * format, and loads lists of tensors. The formats are in separate modules: format/polygraphy/, format/safetensors/,
 * format/numpy/, and ONNX's TensorProto.
 *
 *   content                      iterations            names
 *   Polygraphy's JSON            those of the file     those of the file
 *   JSON lists                   [{...}, ...], or one  members: {"x": [[1, 2]]}; a list alone has none
 *   safetensors                  see safetensors.h     those of the file
 *   .npz                         one, or "0/x", "1/x"  those of the file
 *   .npy                         one                   none
 *   .pb, ONNX's TensorProto      one                   the tensor's, if it has one
 *   raw data                     one                   none
 *   folder of .json              those of all files    those of the files, see format/data/iteration_folder.h
 *   folder of .npy               one                   of the files, see format/numpy/folder.h
 *   folder of input_0.pb, ...    one                   the tensors'; without, the inputs in their order
 *   folder of folders 0, 1, ...  one each              as above; ONNX's test_data_set_0, ... are such folders, too
 *
 * An array without a name is named after its file and marked (struct named_tensor). The format is detected from the
 * content; the file name is used only for ".pb" and for damaged files.
 */
#ifndef FORMAT_DATA_FILE_H
#define FORMAT_DATA_FILE_H

#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

struct data_file {
    bool holds_results;
    struct run_results results; /* if holds_results */
    struct feed_dicts feeds;    /* otherwise */
};

/* Loads the data specified by `word`, see word.h. ERR_INVALID for a file in none of these formats; the message lists
 * them. */
int data_file_load(struct data_file *ret, const char *word, struct error *err);
void data_file_release(struct data_file *file);

/* Appends the iterations specified by `word` to `feeds`. Consecutive arrays with names in the word ("x:a.npy") form one
 * iteration while their names differ. ERR_INVALID for results, with a hint to `data merge`. On an error `feeds` is
 * unchanged. */
int data_file_add_inputs(struct feed_dicts *feeds, const char *word, struct error *err);

/* Appends the results specified by `word` to `results`, for comparison: those in a results file; or arrays, as outputs
 * of one runner with the file's name. For ONNX's test data these are output_0.pb and so on. JSON files must contain
 * results. On an error `results` is unchanged. */
int data_file_add_results(struct run_results *results, const char *word, struct error *err);

/* The same without the first iterations of each runner. */
int data_file_add_results_from(struct run_results *results, const char *word, size_t first, struct error *err);

#endif
