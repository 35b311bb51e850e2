/* format/data/word.h: parses a data argument of the command line: file, input name, and for raw data type and shape.
 *
 *   PATH                     all data in the file
 *   NAME:PATH                the one array in it, for the input NAME
 *   [NAME:]PATH:TYPE:SHAPE   raw data: the elements in C order, little-endian; in.bin:float32:1x3x224x224, or
 *                            in.bin:float32:[1,3,224,224]; [] is a single number
 *
 * Names and paths may contain colons. Ambiguities are resolved by existing files: first a file with the name of the
 * whole word; of several after colons, the one that begins with / or ./ or ../.
 */
#ifndef FORMAT_DATA_WORD_H
#define FORMAT_DATA_WORD_H

#include "base/file/list.h"
#include "tensor/values/tensor.h"

struct data_word {
    struct text name;    /* points into the word; empty: none */
    char *path;          /* owned */
    enum data_type type; /* of raw data; else DATA_UNDEFINED */
    struct shape shape;  /* of raw data */
};

/* ERR_INVALID for an ambiguous word, or an invalid type or shape; ERR_MISSING if no part of a word with colons is a
 * file. A word without colons is always a path. */
int data_word_parse(const char *word, struct data_word *ret, struct error *err);

/* Appends the paths of all files that `word` specifies, for a folder also those in it. Appends nothing for an invalid
 * word: reading it reports the error. */
void data_word_list_files(const char *word, struct file_list *ret);
void data_word_release(struct data_word *word); /* harmless on a zeroed struct */

#endif
