/* cli/version.h: this program's version, and that of the Polygraphy whose behaviour it follows. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include "base/version.h"

#define POLYGRAPHY_COMPATIBLE_WITH "0.49.27"

#endif
