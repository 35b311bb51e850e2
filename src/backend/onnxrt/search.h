/* backend/onnxrt/search.h: where ONNX Runtime's shared library is. */
#ifndef BACKEND_ONNXRT_SEARCH_H
#define BACKEND_ONNXRT_SEARCH_H

#include "base/error.h"

/* Loads the library `libonnxruntime.so.1` or `libonnxruntime.so` from the first of these places that has one:
 *
 *   1. `wanted`, a file, a folder or the number of a release (releases.h), and nowhere else; unless it is NULL
 *   2. the file or folder that POLYGRAPHY_ONNXRUNTIME names, and nowhere else; unless it is empty
 *   3. the program's folder, which is the build folder before installation
 *   4. ../lib/polygraphy beside the program's folder, where installation puts it
 *   5. the file or folder that ORT_DYLIB_PATH names, a variable that other programs know too
 *   6. Python's package onnxruntime or onnxruntime-gpu (base/file/python_packages.h). Releases before 1.20.1 have no
 *      library with a C interface
 *
 * The system's own library is loaded only when it is named, as "libonnxruntime.so.1" without a folder does:
 * distributions build it in ways of their own (Debian 13's writes hundreds of lines about schemas into every log).
 *
 * A handle of dlopen() goes to `ret_handle`, the file's name to `ret_path` (malloc'd). ERR_MISSING lists the places. */
int onnxrt_search(const char *wanted, void **ret_handle, char **ret_path, struct error *err);

/* Which library that is. */
struct onnxrt_identity {
    char *path, *version; /* "1.30.0" */
};

/* Finds the library, and asks it for its release; it does not stay loaded. Release `ret` after success. Errors as
 * above; ERR_UNSUPPORTED: it is no ONNX Runtime. */
int onnxrt_identify(const char *wanted, struct onnxrt_identity *ret, struct error *err);
void onnxrt_identity_release(struct onnxrt_identity *identity); /* harmless on zeros */

#endif
