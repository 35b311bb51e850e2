/* format/data/word.h: what a word of the command line says of data: which file, whose, and for raw data of what type.
 *
 *   PATH                     whatever the file holds
 *   NAME:PATH                the one array in it, for the input NAME
 *   [NAME:]PATH:TYPE:SHAPE   raw data: the elements in C order, little-endian; in.bin:float32:1x3x224x224, or
 *                            in.bin:float32:[1,3,224,224]; [] is a single number
 *
 * Names and paths may hold colons. A path is what exists: a file that is called like the whole word is that file; of
 * several that stand behind colons, the one that begins with / or ./ or ../ is meant.
 */
#ifndef FORMAT_DATA_WORD_H
#define FORMAT_DATA_WORD_H

#include "base/file/list.h"
#include "tensor/values/tensor.h"

struct data_word {
    struct text name;    /* in the word; empty: none is given */
    char *path;          /* owned */
    enum data_type type; /* of raw data; else DATA_UNDEFINED */
    struct shape shape;  /* of raw data */
};

/* ERR_INVALID for a word that can be parted in several ways, or whose type or shape is none; ERR_MISSING when no part
 * of a word with colons is a file. A word without colons is a path whether there is a file or not. */
int data_word_parse(const char *word, struct data_word *ret, struct error *err);

/* Appends the paths of all files that `word` names: of a folder, those in it, too. A word that names none is left to
 * those who read it. */
void data_word_list_files(const char *word, struct file_list *ret);
void data_word_release(struct data_word *word); /* harmless on a zeroed struct */

#endif
