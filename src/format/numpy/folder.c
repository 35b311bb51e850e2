/* format/numpy/folder.c: see folder.h. */
#include "format/numpy/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "base/text/string_builder.h"
#include "format/numpy/npy.h"

#define EXTENSION ".npy"

/* Decodes the array's name from a file name without its extension. */
static void add_array_name(struct text file, struct string_builder *ret)
{
    for (size_t i = 0; i < file.size; i++) {
        int high = i + 2 < file.size && file.data[i] == '%' ? number_hexadecimal_digit(file.data[i + 1]) : -1;
        int low = high >= 0 ? number_hexadecimal_digit(file.data[i + 2]) : -1;

        if (low >= 0 && (high > 0 || low > 0)) { /* a NUL would truncate the name */
            string_add_char(ret, (char)(high << 4 | low));
            i += 2;
        } else {
            string_add_char(ret, file.data[i]);
        }
    }
}

static void add_file_name(const char *name, struct string_builder *ret)
{
    for (const char *at = name; *at != '\0'; at++) {
        bool is_plain = (unsigned char)*at >= ' ' && *at != 0x7f && *at != '/' && *at != '%';

        if (is_plain && (*at != '.' || at > name))
            string_add_char(ret, *at);
        else
            string_add_format(ret, "%%%02X", (unsigned char)*at);
    }
    string_add(ret, EXTENSION);
}

static int is_array_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), extension = strlen(EXTENSION);

    return entry->d_name[0] != '.' && length > extension && strcmp(entry->d_name + length - extension, EXTENSION) == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_file(const char *folder, const char *file, struct tensor_list *ret, struct error *err)
{
    char *path = file_join(folder, file);
    SCOPED_STRING(name);
    struct tensor tensor;
    int rc = npy_load(path, &tensor, err);

    if (rc == 0) {
        add_array_name((struct text){file, strlen(file) - strlen(EXTENSION)}, &name);
        if (tensor_list_find(ret, (struct text){name.data, name.size}) == NULL) {
            tensor_list_add(ret, (struct text){name.data, name.size}, &tensor);
        } else { /* "a.npy" and "%61.npy" */
            rc = error_set(err, ERR_INVALID, "'%s' is the second array '%s' in its folder", path, name.data);
            tensor_release(&tensor);
        }
    }
    free(path);
    return rc;
}

bool npy_folder_has_arrays(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    bool found = false;

    while (stream != NULL && !found && (entry = readdir(stream)) != NULL)
        found = is_array_file(entry);
    if (stream != NULL)
        closedir(stream);
    return found;
}

int npy_folder_load(const char *path, struct tensor_list *ret, struct error *err)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_array_file, by_bytes), rc = 0;

    if (count < 0)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", path);
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = load_file(path, entries[i]->d_name, ret, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int npy_folder_save(const struct tensor_list *tensors, const char *path, enum file_durability durability,
                    struct error *err)
{
    SCOPED_STRING(name);
    int rc = file_make_folders(path, err);

    for (size_t i = 0; i < tensors->count && rc == 0; i++) {
        const struct named_tensor *item = &tensors->items[i];
        char *file SCOPED_FREE = NULL;

        if (item->name[0] == '\0') {
            rc = error_set(err, ERR_UNSUPPORTED, "cannot write a tensor without a name to the folder '%s'", path);
            break;
        }
        string_clear(&name);
        add_file_name(item->name, &name);
        file = file_join(path, name.data);
        rc = npy_save(&item->tensor, file, durability, err);
    }
    return rc;
}
