/* base/version.h: this program's version. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define POLYGRAPHY_VERSION "0.1.0"

#endif
