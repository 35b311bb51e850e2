/* backend/tensorrt/abi/slots.h: tables of the slots of TensorRT's methods, one for each major release.
 *
 * The module backend/tensorrt/abi/ holds facts about TensorRT's binary interface (Itanium C++ ABI, x86-64 and aarch64):
 * methods.h the methods that are called, slots_*.c their slots, values_*.c the values of enums, which move between
 * major releases. They were read off NVIDIA's headers of 23 releases, and those of TensorRT-RTX off the library itself.
 * It uses libc only.
 */
#ifndef BACKEND_TENSORRT_ABI_SLOTS_H
#define BACKEND_TENSORRT_ABI_SLOTS_H

#include "backend/tensorrt/abi/methods.h"

#define TENSORRT_RELEASE(major, minor) ((major)*100 + (minor))

struct tensorrt_slot {
    enum tensorrt_method method;
    short number;
    short since; /* TENSORRT_RELEASE() from which on the method exists */
};

#define SLOT(class, method, slot)                                                                                      \
    {                                                                                                                  \
        TENSORRT_METHOD(class, method), slot, 1                                                                        \
    }
#define SLOT_SINCE(class, method, slot, major, minor)                                                                  \
    {                                                                                                                  \
        TENSORRT_METHOD(class, method), slot, TENSORRT_RELEASE(major, minor)                                           \
    }
#define NO_MORE_SLOTS                                                                                                  \
    {                                                                                                                  \
        TENSORRT_METHODS, 0, 0                                                                                         \
    }

extern const struct tensorrt_slot tensorrt_slots_8[];      /* 8.6 to 9.3 */
extern const struct tensorrt_slot tensorrt_slots_10[];     /* all of 10 ... */
extern const struct tensorrt_slot tensorrt_slots_10_8_0[]; /* ... but these in 10.8.0 */
extern const struct tensorrt_slot tensorrt_slots_11[];
extern const struct tensorrt_slot tensorrt_slots_rtx[]; /* TensorRT-RTX 1.7 */

#endif
