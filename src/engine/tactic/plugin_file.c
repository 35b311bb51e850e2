/* engine/tactic/plugin_file.c: see plugin.h. */
#include "engine/tactic/plugin.h"

#include <string.h>

#include "base/text/text.h"
#include "base/file/file.h"

/* Offsets of fields of an ELF file (System V ABI, "ELF Header" and "Program Header"), for either word size. */
struct elf_class {
    size_t header_size;
    size_t table_offset, entry_size, entry_count;   /* in the file header */
    size_t segment_offset, segment_size, word_size; /* in a program header */
};

static const struct elf_class elf_32 = {52, 28, 42, 44, 4, 16, 4};
static const struct elf_class elf_64 = {64, 32, 54, 56, 8, 32, 8};

enum { SEGMENT_LOAD = 1 };

/* Reads a number of `size` bytes in native byte order: the loader refuses others. */
static uint64_t read_elf_number(const uint8_t *at, size_t size)
{
    uint64_t word;
    uint32_t half;
    uint16_t quarter;

    switch (size) {
    case 8:
        memcpy(&word, at, sizeof(word));
        return word;
    case 4:
        memcpy(&half, at, sizeof(half));
        return half;
    default:
        memcpy(&quarter, at, sizeof(quarter));
        return quarter;
    }
}

static bool range_fits_file(struct span file, uint64_t offset, uint64_t size)
{
    return offset <= file.size && size <= file.size - offset;
}

/* Whether the file contains all loadable segments. */
static bool elf_is_whole(struct span file, const struct elf_class *elf)
{
    uint64_t table, count, entry_size;

    if (file.size < elf->header_size)
        return false;
    table = read_elf_number(file.data + elf->table_offset, elf->word_size);
    entry_size = read_elf_number(file.data + elf->entry_size, 2);
    count = read_elf_number(file.data + elf->entry_count, 2);
    if (entry_size < elf->segment_size + elf->word_size || !range_fits_file(file, table, entry_size * count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = file.data + table + i * entry_size;

        if (read_elf_number(entry, 4) == SEGMENT_LOAD &&
            !range_fits_file(file, read_elf_number(entry + elf->segment_offset, elf->word_size),
                             read_elf_number(entry + elf->segment_size, elf->word_size)))
            return false;
    }
    return true;
}

int plugin_file_check(const char *path, struct error *err)
{
    struct file_map map SCOPED(file_map_release) = {0};
    struct span file;
    int rc = file_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    file = (struct span){map.data, map.size};
    if (file.size >= 5 && memcmp(file.data, "\177ELF", 4) == 0 &&
        !elf_is_whole(file, file.data[4] == 1 ? &elf_32 : &elf_64))
        rc = error_set(err, ERR_CORRUPT, "plug-in '%s' cannot be loaded: the file is damaged, or a part of one", path);
    return rc;
}
