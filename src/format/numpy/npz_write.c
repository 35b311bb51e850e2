/* format/numpy/npz_write.c: writes .npz files. */
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text/string_builder.h"
#include "format/numpy/npy.h"
#include "format/numpy/npz.h"
#include "format/numpy/zip.h"

enum {
    ALIGNMENT = 64,     /* of members, and of the data after their headers */
    VERSION = 45,       /* 4.5 has 64-bit sizes (APPNOTE.TXT, 4.4.3) */
    DATE = 0x21,        /* 1 January 1980: files do not depend on when they are written */
    LARGE_SIZES = 20,   /* the extra field with two 64-bit sizes */
    PADDING_HEADER = 6, /* of the extra field that aligns: kind, size, alignment */
};

static void add_little_endian(struct string_builder *to, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        string_add_char(to, (char)(number >> 8 * i & 0xFF));
}

/* Adds the common part of both headers of a member: from the required version to the lengths of name and extra
 * fields. */
static void add_common(struct string_builder *to, uint32_t checksum, uint32_t size, size_t name, size_t extra)
{
    add_little_endian(to, VERSION, 2);
    add_little_endian(to, ZIP_FLAG_UTF8, 2);
    add_little_endian(to, ZIP_STORED, 2);
    add_little_endian(to, 0, 2); /* midnight */
    add_little_endian(to, DATE, 2);
    add_little_endian(to, checksum, 4);
    add_little_endian(to, size, 4); /* packed */
    add_little_endian(to, size, 4);
    add_little_endian(to, name, 2);
    add_little_endian(to, extra, 2);
}

static void add_local_header(struct string_builder *to, struct text name, uint64_t offset, uint32_t checksum,
                             uint64_t size)
{
    size_t bytes = ZIP_LOCAL_SIZE + name.size + LARGE_SIZES + PADDING_HEADER;
    size_t padding = (ALIGNMENT - (offset + bytes) % ALIGNMENT) % ALIGNMENT;

    add_little_endian(to, ZIP_LOCAL_MAGIC, 4);
    add_common(to, checksum, ZIP_ELSEWHERE, name.size, LARGE_SIZES + PADDING_HEADER + padding);
    string_add_text(to, name);
    add_little_endian(to, ZIP_EXTRA_64, 2);
    add_little_endian(to, LARGE_SIZES - 4, 2);
    add_little_endian(to, size, 8);
    add_little_endian(to, size, 8);
    add_little_endian(to, ZIP_EXTRA_ALIGNMENT, 2);
    add_little_endian(to, PADDING_HEADER - 4 + padding, 2);
    add_little_endian(to, ALIGNMENT, 2);
    for (size_t i = 0; i < padding; i++)
        string_add_char(to, '\0');
}

static void add_entry(struct string_builder *to, struct text name, uint64_t offset, uint32_t checksum, uint64_t size)
{
    const unsigned extra = 4 + 3 * 8; /* both sizes and the offset */

    add_little_endian(to, ZIP_ENTRY_MAGIC, 4);
    add_little_endian(to, VERSION, 2);
    add_common(to, checksum, ZIP_ELSEWHERE, name.size, extra);
    add_little_endian(to, 0, 2); /* comment */
    add_little_endian(to, 0, 2); /* volume */
    add_little_endian(to, 0, 2); /* attributes */
    add_little_endian(to, 0, 4);
    add_little_endian(to, ZIP_ELSEWHERE, 4);
    string_add_text(to, name);
    add_little_endian(to, ZIP_EXTRA_64, 2);
    add_little_endian(to, extra - 4, 2);
    add_little_endian(to, size, 8);
    add_little_endian(to, size, 8);
    add_little_endian(to, offset, 8);
}

/* Writes bytes of a member to the file. */
struct member_sink {
    struct file_writer *file;
    uLong checksum;
};

static int add_bytes(void *context, const void *data, size_t size, struct error *err)
{
    struct member_sink *sink = context;

    sink->checksum = crc32_z(sink->checksum, data, size);
    return file_writer_add(sink->file, data, size, err);
}

int npz_writer_open(struct npz_writer *writer, const char *path, struct error *err)
{
    *writer = (struct npz_writer){0};
    return file_writer_open_regular(&writer->file, path, err);
}

/* Checksum and size are known after the data are written: the header before them is written twice. */
int npz_writer_add(struct npz_writer *writer, const char *name, const struct tensor *tensor, struct error *err)
{
    struct member_sink sink = {.file = &writer->file};
    struct npy_sink to = {add_bytes, &sink};
    uint64_t offset = writer->file.written, size;
    SCOPED_STRING(member);
    SCOPED_STRING(header);
    int rc;

    string_add_format(&member, "%s.npy", name);
    if (member.size > UINT16_MAX)
        return error_set(err, ERR_UNSUPPORTED, "a name of %zu bytes is too long for a .npz file", strlen(name));
    add_local_header(&header, (struct text){member.data, member.size}, offset, 0, 0);
    rc = file_writer_add(&writer->file, header.data, header.size, err);
    if (rc == 0)
        rc = npy_write(tensor, &to, err);
    if (rc < 0)
        return rc;
    size = writer->file.written - offset - header.size;
    string_clear(&header);
    add_local_header(&header, (struct text){member.data, member.size}, offset, (uint32_t)sink.checksum, size);
    rc = file_writer_overwrite(&writer->file, offset, header.data, header.size, err);
    if (rc < 0)
        return rc;
    writer->count++;
    return rc;
}

/* Reads `size` bytes of the file that is being written into `ret`. */
static int read_back(const struct file_writer *file, uint64_t offset, size_t size, struct string_builder *ret,
                     struct error *err)
{
    ssize_t got;

    string_clear(ret);
    string_reserve(ret, size);
    got = pread(file->fd, ret->data, size, (off_t)offset);
    if (got < 0)
        return error_set_errno(err, ERR_IO, "cannot read '%s'", file->temporary);
    if ((size_t)got < size)
        return error_set(err, ERR_IO, "'%s' ends at byte %llu: it was changed while it was written", file->temporary,
                         (unsigned long long)offset + (unsigned long long)got);
    ret->size = size;
    return 0;
}

/* Appends the directory's entry of the member with its local header at *offset, which advances to the next member. */
static int write_entry(struct npz_writer *writer, uint64_t *offset, struct error *err)
{
    SCOPED_STRING(header);
    SCOPED_STRING(entry);
    size_t name, extra;
    uint64_t size;
    int rc = read_back(&writer->file, *offset, ZIP_LOCAL_SIZE, &header, err);

    if (rc < 0)
        return rc;
    name = (size_t)zip_number(header.data + 26, 2);
    extra = (size_t)zip_number(header.data + 28, 2);
    rc = read_back(&writer->file, *offset, ZIP_LOCAL_SIZE + name + LARGE_SIZES, &header, err);
    if (rc < 0)
        return rc;
    size = zip_number(header.data + ZIP_LOCAL_SIZE + name + 4, 8);
    add_entry(&entry, (struct text){header.data + ZIP_LOCAL_SIZE, name}, *offset,
              (uint32_t)zip_number(header.data + 14, 4), size);
    *offset += ZIP_LOCAL_SIZE + name + extra + size;
    return file_writer_add(&writer->file, entry.data, entry.size, err);
}

/* The old record alone, which numpy.load() recognizes an archive without members by. */
static void add_end_of_nothing(struct string_builder *ret)
{
    add_little_endian(ret, ZIP_END_MAGIC, 4);
    for (size_t i = 4; i < ZIP_END_SIZE; i++)
        string_add_char(ret, '\0');
}

static void add_ends(struct string_builder *end, uint64_t count, uint64_t begin, uint64_t size)
{
    add_little_endian(end, ZIP_END64_MAGIC, 4);
    add_little_endian(end, ZIP_END64_SIZE - 12, 8);
    add_little_endian(end, VERSION, 2);
    add_little_endian(end, VERSION, 2);
    add_little_endian(end, 0, 8); /* volumes */
    add_little_endian(end, count, 8);
    add_little_endian(end, count, 8);
    add_little_endian(end, size, 8);
    add_little_endian(end, begin, 8);
    add_little_endian(end, ZIP_LOCATOR64_MAGIC, 4);
    add_little_endian(end, 0, 4);
    add_little_endian(end, begin + size, 8);
    add_little_endian(end, 1, 4); /* volumes */
    add_little_endian(end, ZIP_END_MAGIC, 4);
    add_little_endian(end, 0, 4); /* volumes */
    add_little_endian(end, UINT16_MAX, 2);
    add_little_endian(end, UINT16_MAX, 2);
    add_little_endian(end, ZIP_ELSEWHERE, 4);
    add_little_endian(end, ZIP_ELSEWHERE, 4);
    add_little_endian(end, 0, 2); /* comment */
}

int npz_writer_commit(struct npz_writer *writer, enum file_durability durability, struct error *err)
{
    uint64_t begin = writer->file.written, offset = 0;
    SCOPED_STRING(records);
    int rc = file_writer_flush(&writer->file, err);

    for (uint64_t i = 0; i < writer->count && rc == 0; i++)
        rc = write_entry(writer, &offset, err);
    if (rc < 0)
        return rc;
    if (writer->count > 0)
        add_ends(&records, writer->count, begin, writer->file.written - begin);
    else
        add_end_of_nothing(&records);
    rc = file_writer_add(&writer->file, records.data, records.size, err);
    return rc < 0 ? rc : file_writer_commit(&writer->file, durability, err);
}

void npz_writer_release(struct npz_writer *writer)
{
    file_writer_release(&writer->file);
}
