/* backend/tensorrt/search.h: where TensorRT's libraries are. */
#ifndef BACKEND_TENSORRT_SEARCH_H
#define BACKEND_TENSORRT_SEARCH_H

#include "base/container/arena.h"
#include "base/error.h"
#include "base/text/string_builder.h"

enum tensorrt_flavour {
    TENSORRT_FULL,     /* libnvinfer */
    TENSORRT_RTX,      /* libtensorrt_rtx */
    TENSORRT_LEAN,     /* libnvinfer_lean: runs engines, builds none */
    TENSORRT_DISPATCH, /* libnvinfer_dispatch: the same, for version-compatible engines only */
};

/* A library that was loaded. Text lives in the arena of the search. */
struct tensorrt_place {
    enum tensorrt_flavour flavour;
    void *handle;
    const char *path;
    const char *reason; /* why it is this one: "POLYGRAPHY_TENSORRT names it" */
    const char *others; /* other libraries that were found, in quotes, separated by commas; NULL: none */
};

/* Loads the library that POLYGRAPHY_TENSORRT names (a file, or a folder, or a name for the system's loader), and looks
 * nowhere else; where it is not set, the first that is found: by the system's loader, in Python packages
 * (base/file/python_packages.h), in /usr/local/tensorrt and /opt/tensorrt. In each place a later release comes before
 * an earlier one, and the full library before TensorRT-RTX, the lean and the dispatch runtime. ERR_MISSING lists the
 * places. */
int tensorrt_search(struct arena *arena, struct tensorrt_place *ret, struct error *err);

/* Loads the first of `names` (NULL-terminated) that is there: in the folder of `beside`, by the system's loader, in the
 * folders of CUDA in Python packages. NULL: none is. `ret_path` may be NULL. */
void *tensorrt_load_companion(const char *beside, const char *const *names, struct arena *arena, const char **ret_path);

#endif
