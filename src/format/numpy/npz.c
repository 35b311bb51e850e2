/* format/numpy/npz.c: takes the first array out of a zip archive. */
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "format/numpy/npy.h"

/* Deflate's best case: a match of 258 bytes takes two bits (RFC 1951, 3.2.5). A little more for the first block. */
#define DEFLATE_MAX_RATIO 1032
#define DEFLATE_SLACK 1024

/* Opens the archive; libzip reads from `file` without a copy. */
static int open_archive(struct span file, zip_t **ret, struct error *err)
{
    zip_error_t failure;
    zip_source_t *source;
    int rc = 0;

    zip_error_init(&failure);
    source = zip_source_buffer_create(file.data, file.size, 0, &failure);
    *ret = source ? zip_open_from_source(source, ZIP_RDONLY, &failure) : NULL;
    if (!*ret) {
        rc = error_set(err, ERR_CORRUPT, "it is a .npz file that cannot be opened: %s", zip_error_strerror(&failure));
        zip_source_free(source);
    }
    zip_error_fini(&failure);
    return rc;
}

static bool is_npy_name(const char *name)
{
    size_t length = strlen(name);

    return length >= 4 && strcmp(name + length - 4, ".npy") == 0;
}

static int find_first(zip_t *archive, zip_stat_t *ret, struct error *err)
{
    zip_int64_t count = zip_get_num_entries(archive, 0);
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_INDEX | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;

    for (zip_int64_t i = 0; i < count; i++) {
        zip_stat_init(ret);
        if (zip_stat_index(archive, (zip_uint64_t)i, 0, ret) == 0 && (ret->valid & needed) == needed &&
            is_npy_name(ret->name))
            return 0;
    }
    return error_set(err, ERR_CORRUPT, "it is a .npz file without an array");
}

static int check_entry(const zip_stat_t *entry, size_t archive_size, struct error *err)
{
    uint64_t most = entry->comp_size;

    if ((entry->comp_method != ZIP_CM_STORE && entry->comp_method != ZIP_CM_DEFLATE) ||
        entry->encryption_method != ZIP_EM_NONE)
        return error_set(err, ERR_UNSUPPORTED, "'%s' in the .npz file is neither stored nor deflated", entry->name);
    if (entry->comp_method == ZIP_CM_DEFLATE && entry->comp_size <= archive_size)
        most = entry->comp_size * DEFLATE_MAX_RATIO + DEFLATE_SLACK;
    if (entry->comp_size > archive_size || entry->size > most || entry->size > PTRDIFF_MAX)
        return error_set(err, ERR_CORRUPT, "'%s' in the .npz file claims %llu bytes in %llu compressed ones",
                         entry->name, (unsigned long long)entry->size, (unsigned long long)entry->comp_size);
    return 0;
}

static int read_entry(zip_t *archive, const zip_stat_t *entry, uint8_t **ret, struct error *err)
{
    size_t size = (size_t)entry->size;
    uint8_t *data = malloc(size + 1);
    zip_file_t *file = NULL;
    size_t filled = 0;
    zip_int64_t got = 1;
    int rc = 0;

    if (!data)
        return error_set(err, ERR_MEMORY, "no memory for the %zu bytes of '%s' in the .npz file", size, entry->name);
    file = zip_fopen_index(archive, entry->index, 0);
    while (file && got > 0) { /* one byte more than the entry has: libzip checks the checksum at its end */
        got = zip_fread(file, data + filled, size + 1 - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    if (!file || got < 0 || filled != size)
        rc = error_set(err, ERR_CORRUPT, "'%s' in the .npz file is damaged: %s", entry->name,
                       file ? zip_file_strerror(file) : zip_strerror(archive));
    if (file)
        zip_fclose(file);
    if (rc == 0)
        *ret = data;
    else
        free(data);
    return rc;
}

int npz_read_first(struct span file, struct tensor *ret, struct error *err)
{
    zip_t *archive = NULL;
    zip_stat_t entry;
    uint8_t *data = NULL;
    int rc;

    rc = open_archive(file, &archive, err);
    if (rc < 0)
        goto done;
    rc = find_first(archive, &entry, err);
    if (rc < 0)
        goto done;
    rc = check_entry(&entry, file.size, err);
    if (rc < 0)
        goto done;
    rc = read_entry(archive, &entry, &data, err);
    if (rc < 0)
        goto done;
    rc = npy_read_owned(data, (size_t)entry.size, ret, err);
done:
    if (archive)
        zip_discard(archive);
    return rc;
}
