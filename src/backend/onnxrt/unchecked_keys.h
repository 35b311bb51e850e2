/* backend/onnxrt/unchecked_keys.h: keys that the runtime takes whether it knows them or not, so that a misspelt one
 * changes nothing and nobody learns of it. */
#ifndef BACKEND_ONNXRT_UNCHECKED_KEYS_H
#define BACKEND_ONNXRT_UNCHECKED_KEYS_H

#include "backend/onnxrt/providers.h"

/* Warns of each key of a session's configuration, and of the options of some providers, whose name does not occur in
 * the runtime's library, or in the provider's own. Providers of libraries accept any key and any value; so there a
 * value is warned of as well, unless the provider declares the option. */
void onnxrt_unchecked_keys_warn(const struct onnxrt_providers *providers, struct log *log);

/* Whether `library`, the bytes of one, has the text `key`, NUL-terminated. If not, `ret` gets the keys that it has and
 * that are close: "; did you mean 'deviceId'?", or nothing. Those are texts that begin with `area`, which is left out;
 * with area "" those that begin as a session's keys do. */
bool onnxrt_library_has_key(struct text library, const char *area, const char *key, struct string_builder *ret);

#endif
