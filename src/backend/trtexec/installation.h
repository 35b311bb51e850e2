/* backend/trtexec/installation.h: where NVIDIA's trtexec is.
 *
 * It is asked for its help once. What it said is kept in a file of the user's cache folder
 * ($XDG_CACHE_HOME/polygraphy, or ~/.cache/polygraphy) for as long as the program has the same path, size and time of
 * change.
 */
#ifndef BACKEND_TRTEXEC_INSTALLATION_H
#define BACKEND_TRTEXEC_INSTALLATION_H

#include "backend/trtexec/program.h"

/* Looks for trtexec: $POLYGRAPHY_TRTEXEC (then nowhere else), PATH, /usr/src/tensorrt/bin, /opt/tensorrt/bin, and bin
 * beside the folders of LD_LIBRARY_PATH. What is found stays until the end of this process. ERR_MISSING lists the
 * places; ERR_BACKEND when what was found does not answer like trtexec. */
int trtexec_find(const struct trtexec **ret, struct error *err);

/* Where a file `name` of ours is kept in the user's cache folder, malloc'd; NULL when there is no such folder. */
char *trtexec_cache_path(const char *name);

#endif
