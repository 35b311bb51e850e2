/* comparator/reference/value_store.c: see value_store.h. */
#include "comparator/reference/value_store.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void unmap_values(struct value_store *store, size_t from)
{
    while (store->parts.count > from) {
        struct stored_part *part = &store->parts.items[--store->parts.count];

        munmap(part->data, part->size);
    }
}

void value_store_release(struct value_store *store)
{
    unmap_values(store, 0);
    free(store->parts.items);
    free(store->waiting.items);
    scratch_file_close(&store->file);
    *store = (struct value_store){0};
}

static int open_file(struct value_store *store, struct error *err)
{
    return store->file.folder != NULL ? 0 : scratch_file_open(&store->file, err);
}

int value_store_add(struct value_store *store, const struct tensor *tensor, struct tensor *ret, struct error *err)
{
    uint64_t offset;
    int rc;

    if (tensor->type == DATA_STRING || tensor->size < page_size())
        return tensor_copy(tensor, ret, err);
    rc = open_file(store, err);
    if (rc == 0)
        rc = scratch_file_append(&store->file, tensor->data, tensor->size, page_size(), &offset, err);
    if (rc < 0)
        return rc;
    *ret = (struct tensor){.type = tensor->type, .shape = tensor->shape, .size = tensor->size};
    *VECTOR_APPEND(&store->waiting) = (struct stored_value){ret, offset};
    return 0;
}

int value_store_commit(struct value_store *store, struct error *err)
{
    struct stored_part part;
    uint64_t start;
    int rc;

    if (store->waiting.count == 0)
        return 0;
    start = store->waiting.items[0].offset;
    part.size = (size_t)(store->file.size - start);
    rc = scratch_file_map(&store->file, start, part.size, &part.data, err);
    if (rc < 0)
        return rc;
    *VECTOR_APPEND(&store->parts) = part;
    for (size_t i = 0; i < store->waiting.count; i++)
        store->waiting.items[i].tensor->data = (char *)part.data + (store->waiting.items[i].offset - start);
    store->waiting.count = 0;
    return 0;
}

struct value_store_mark value_store_mark(const struct value_store *store)
{
    return (struct value_store_mark){.size = store->file.size, .parts = store->parts.count};
}

void value_store_go_back(struct value_store *store, struct value_store_mark mark)
{
    store->waiting.count = 0;
    unmap_values(store, mark.parts);
    if (store->file.folder != NULL)
        scratch_file_truncate(&store->file, mark.size);
}

uint64_t value_store_size(const struct value_store *store)
{
    return store->file.size;
}

int value_store_room(struct value_store *store, uint64_t *ret, struct error *err)
{
    int rc = open_file(store, err);

    if (rc == 0)
        *ret = scratch_file_room(&store->file);
    return rc;
}
