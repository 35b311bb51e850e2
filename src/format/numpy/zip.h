/* format/numpy/zip.h: the records of a zip archive that .npz files use (PKWARE, APPNOTE.TXT, 4.3). Internal to
 * format/numpy.
 *
 *   local header, name, extra fields, data     for each member
 *   central directory                          an entry for each member
 *   end of the directory                       64-bit: a record and its locator, then the old record
 *
 * A size or offset of 0xFFFFFFFF is stored with 64 bits in the extra field ZIP_EXTRA_64.
 */
#ifndef FORMAT_NUMPY_ZIP_H
#define FORMAT_NUMPY_ZIP_H

#include <stddef.h>
#include <stdint.h>

enum {
    ZIP_LOCAL_MAGIC = 0x04034b50,
    ZIP_LOCAL_SIZE = 30, /* bytes, without variable-length parts */
    ZIP_ENTRY_MAGIC = 0x02014b50,
    ZIP_ENTRY_SIZE = 46,
    ZIP_END_MAGIC = 0x06054b50,
    ZIP_END_SIZE = 22,
    ZIP_END64_MAGIC = 0x06064b50,
    ZIP_END64_SIZE = 56,
    ZIP_LOCATOR64_MAGIC = 0x07064b50,
    ZIP_LOCATOR64_SIZE = 20,

    ZIP_EXTRA_64 = 0x0001,
    ZIP_EXTRA_ALIGNMENT = 0xd935, /* padding that aligns the data */

    ZIP_FLAG_ENCRYPTED = 0x0001,
    ZIP_FLAG_UTF8 = 0x0800,

    ZIP_STORED = 0,
    ZIP_DEFLATED = 8,
};

/* A little-endian number of `size` bytes. */
static inline uint64_t zip_number(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t number = 0;

    while (size-- > 0)
        number = number << 8 | at[size];
    return number;
}

#define ZIP_ELSEWHERE 0xFFFFFFFFu /* a 32-bit field that is in ZIP_EXTRA_64, or in the 64-bit end */

#endif
