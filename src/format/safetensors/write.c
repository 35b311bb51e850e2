/* format/safetensors/write.c: writes files incrementally. */
#include "format/safetensors/safetensors.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/json/writer.h"
#include "format/safetensors/types.h"

enum {
    LENGTH_SIZE = 8,        /* before the header */
    SMALLEST_ROOM = 4088,   /* one page, with the length */
    HEADER_PIECE = 1 << 16, /* bytes of the header that are gathered before they are written */
    ENTRY_ROOM = 160,       /* bytes for a tensor without its name: four dimensions and offsets of terabytes */
};

bool safetensors_is_name(const char *path)
{
    static const char suffix[] = ".safetensors";
    size_t size = strlen(path);

    return size >= sizeof(suffix) - 1 && strcmp(path + size - (sizeof(suffix) - 1), suffix) == 0;
}

int safetensors_writer_open(struct safetensors_writer *writer, const char *path, struct error *err)
{
    *writer = (struct safetensors_writer){.room = SMALLEST_ROOM, .durability = FILE_DURABLE};
    string_init(&writer->header);
    return file_writer_open_regular(&writer->file, path, err);
}

void safetensors_writer_release(struct safetensors_writer *writer)
{
    file_writer_release(&writer->file);
    string_release(&writer->header);
}

void safetensors_writer_expect(struct safetensors_writer *writer, size_t tensors, size_t name_bytes)
{
    if (writer->has_begun || tensors > SAFETENSORS_LONGEST_HEADER / ENTRY_ROOM ||
        name_bytes > SAFETENSORS_LONGEST_HEADER)
        return;
    writer->room += (tensors * ENTRY_ROOM + name_bytes + 7) / 8 * 8;
    if (writer->room > SAFETENSORS_LONGEST_HEADER / 8 * 8)
        writer->room = SAFETENSORS_LONGEST_HEADER / 8 * 8;
}

static int write_blanks(struct file_writer *file, uint64_t count, struct error *err)
{
    char blanks[4096];
    int rc = 0;

    memset(blanks, ' ', sizeof(blanks));
    while (count > 0 && rc == 0) {
        size_t size = count < sizeof(blanks) ? (size_t)count : sizeof(blanks);

        rc = file_writer_add(file, blanks, size, err);
        count -= size;
    }
    return rc;
}

static int begin_data(struct safetensors_writer *writer, struct error *err)
{
    if (writer->has_begun)
        return 0;
    writer->has_begun = true;
    return write_blanks(&writer->file, LENGTH_SIZE + writer->room, err);
}

/* Writes what was gathered of the header into its room, if it fits. */
static int flush_header(struct safetensors_writer *writer, struct error *err)
{
    struct string_builder *header = &writer->header;
    int rc;

    if (header->size > writer->room - writer->header_written)
        return 0;
    rc = file_writer_overwrite(&writer->file, LENGTH_SIZE + writer->header_written, header->data, header->size, err);
    writer->header_written += header->size;
    string_clear(header);
    return rc;
}

int safetensors_writer_add(struct safetensors_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err)
{
    const char *type = safetensors_type_name(tensor->type);
    struct string_builder *header = &writer->header;
    int rc;

    if (type == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "'%s' has type %s, which safetensors does not support: leave it out, or save to a .json file",
                         name, data_type_name(tensor->type));
    rc = begin_data(writer, err);
    if (rc < 0)
        return rc;
    string_add_char(header, writer->header_written + header->size > 0 ? ',' : '{');
    json_add_quoted(header, text_of(name));
    string_add_format(header, ":{\"dtype\":\"%s\",\"shape\":[", type);
    for (size_t i = 0; i < tensor->shape.rank; i++)
        string_add_format(header, "%s%lld", i > 0 ? "," : "", (long long)tensor->shape.dims[i]);
    string_add_format(header, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)writer->data_size,
                      (unsigned long long)(writer->data_size + tensor->size));
    writer->data_size += tensor->size;
    rc = header->size < HEADER_PIECE ? 0 : flush_header(writer, err);
    return rc < 0 ? rc : file_writer_add(&writer->file, tensor->data, tensor->size, err);
}

/* Completes the header: metadata, the closing brace, and blanks that align the data. */
static void finish_header(struct safetensors_writer *writer, const struct safetensors_metadata *metadata, size_t count)
{
    struct string_builder *header = &writer->header;

    string_add(header, writer->header_written + header->size == 0 ? "{" : count > 0 ? "," : "");
    if (count > 0)
        string_add(header, "\"__metadata__\":{");
    for (size_t i = 0; i < count; i++) {
        string_add(header, i > 0 ? "," : "");
        json_add_quoted(header, text_of(metadata[i].name));
        string_add_char(header, ':');
        json_add_quoted(header, text_of(metadata[i].value));
    }
    string_add(header, count > 0 ? "}}" : "}");
    while ((writer->header_written + header->size) % 8 != 0)
        string_add_char(header, ' ');
}

static void make_length(uint64_t length, uint8_t ret[LENGTH_SIZE])
{
    for (int i = 0; i < LENGTH_SIZE; i++)
        ret[i] = (uint8_t)(length >> 8 * i);
}

/* Writes the larger header, and the data behind it, to a new file. `fd`: the file with the header's first part. */
static int write_larger(struct safetensors_writer *writer, int fd, struct file_writer *ret, struct error *err)
{
    uint8_t length[LENGTH_SIZE];
    int rc;

    make_length(writer->header_written + writer->header.size, length);
    rc = file_writer_add(ret, length, sizeof(length), err);
    if (rc < 0)
        return rc;
    rc = file_writer_copy(ret, fd, LENGTH_SIZE, writer->header_written, err);
    if (rc < 0)
        return rc;
    rc = file_writer_add(ret, writer->header.data, writer->header.size, err);
    return rc < 0 ? rc : file_writer_copy(ret, fd, LENGTH_SIZE + writer->room, writer->data_size, err);
}

/* Replaces the file by one with room for the whole header. */
static int move_data(struct safetensors_writer *writer, struct error *err)
{
    struct file_writer larger;
    int fd, rc;

    rc = file_writer_flush(&writer->file, err);
    if (rc < 0)
        return rc;
    fd = file_open_to_read(writer->file.temporary, err);
    if (fd < 0)
        return fd;
    rc = file_writer_open(&larger, writer->file.path, err);
    if (rc == 0)
        rc = write_larger(writer, fd, &larger, err);
    close(fd);
    if (rc < 0) {
        file_writer_release(&larger);
        return rc;
    }
    file_writer_release(&writer->file);
    writer->file = larger;
    return 0;
}

/* The header ends where the data begin: the blanks in its room belong to it. */
static int fill_room(struct safetensors_writer *writer, struct error *err)
{
    uint8_t length[LENGTH_SIZE];
    int rc;

    make_length(writer->room, length);
    rc = file_writer_overwrite(&writer->file, 0, length, sizeof(length), err);
    return rc < 0 ? rc : flush_header(writer, err);
}

int safetensors_writer_commit(struct safetensors_writer *writer, const struct safetensors_metadata *metadata,
                              size_t metadata_count, struct error *err)
{
    uint64_t size;
    int rc = begin_data(writer, err);

    if (rc < 0)
        return rc;
    finish_header(writer, metadata, metadata_count);
    size = writer->header_written + writer->header.size;
    if (size > SAFETENSORS_LONGEST_HEADER)
        return error_set(err, ERR_UNSUPPORTED, "'%s': a header of %llu bytes is longer than the format allows",
                         writer->file.path, (unsigned long long)size);
    rc = size > writer->room ? move_data(writer, err) : fill_room(writer, err);
    return rc < 0 ? rc : file_writer_commit(&writer->file, writer->durability, err);
}
