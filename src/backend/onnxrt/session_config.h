/* backend/onnxrt/session_config.h: keys of a session's configuration, which the runtime takes without reading them. */
#ifndef BACKEND_ONNXRT_SESSION_CONFIG_H
#define BACKEND_ONNXRT_SESSION_CONFIG_H

#include "backend/backend.h"
#include "backend/onnxrt/library.h"

/* Adds `config` to `options`, entry by entry. The runtime refuses none that it does not know, and nothing comes of it
 * then; so `log` gets a warning for a key whose name does not occur in the library. ERR_BACKEND. */
int onnxrt_session_config_add(const struct onnxrt *ort, const struct backend_settings *config,
                              struct ort_session_options *options, struct log *log, struct error *err);

/* Whether `library`, the bytes of one, has the text `key`, NUL-terminated. If not, `ret` gets what it has instead:
 * "; did you mean 'session.disable_prepacking'?", or nothing. */
bool onnxrt_session_config_knows(struct text library, const char *key, struct string_builder *ret);

#endif
