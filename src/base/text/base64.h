/* base/text/base64.h: RFC 4648 base64 with padding, one line. */
#ifndef BASE_TEXT_BASE64_H
#define BASE_TEXT_BASE64_H

#include <stddef.h>
#include <stdint.h>

#define BASE64_ENCODED_SIZE(size) (((size) + 2) / 3 * 4)

/* Writes BASE64_ENCODED_SIZE(size) characters, no NUL. */
void base64_encode(const void *data, size_t size, char *ret);

/* Strict: only the alphabet, correct padding, zero spare bits not required. Returns the number of bytes written to
 * `ret` (room for size / 4 * 3), or SIZE_MAX when the text is not base64. */
size_t base64_decode(const char *text, size_t size, uint8_t *ret);

#endif
