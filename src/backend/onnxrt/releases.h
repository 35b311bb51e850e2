/* backend/onnxrt/releases.h: published releases of ONNX Runtime by number, fetched once into the user's cache.
 *
 * PyPI's package onnxruntime contains the C library from release 1.20.1 on, npm's package onnxruntime-node in all
 * releases. They are fetched by the user's `pip download` and `npm pack`, so with the user's configuration of them, and
 * the library is kept as <cache>/polygraphy/onnxruntime-<release>/libonnxruntime.so.1, where scripts/setup.sh keeps the
 * one that it pins. <cache> is XDG_CACHE_HOME or ~/.cache.
 */
#ifndef BACKEND_ONNXRT_RELEASES_H
#define BACKEND_ONNXRT_RELEASES_H

#include "base/file/list.h"
#include "base/log.h"
#include "base/text/string_builder.h"

/* Whether `word` is the number of a release, "1.22.1", rather than a path. */
bool onnxrt_is_release(const char *word);

/* Negative, 0 or positive: the order of two numbers of releases, by pointers to them, as qsort() has it. */
int onnxrt_release_order(const void *a, const void *b);

/* The library of a release in the cache, malloc'd; NULL: it is not there, or `release` is no release. */
char *onnxrt_release_find(const char *release);

/* The same, fetched if it is not there; the log gets a line then. The packages of some releases have known hashes, with
 * which they are compared. ERR_MISSING: it cannot be fetched; the message has the command to type where there is a
 * network. */
int onnxrt_release_fetch(const char *release, struct log *log, char **ret, struct error *err);

/* Lists the numbers of all stable releases with a C library that this program can use, oldest first, by asking the
 * package indexes that pip and npm are configured for. `ret` is empty on entry. A warning says
 * which of them does not answer. ERR_MISSING: neither does. */
int onnxrt_releases_list(struct log *log, struct file_list *ret, struct error *err);

/* Appends where the C library is that the Python package in `folder` ("site-packages/onnxruntime/capi") lacks. Nothing,
 * and false, if that is not such a package. */
bool onnxrt_release_explain_package(const char *folder, struct string_builder *ret);

#endif
