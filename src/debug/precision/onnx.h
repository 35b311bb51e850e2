/* debug/precision/onnx.h: layers in float32 and float16 as an ONNX model, whose Cast nodes say where which begins. */
#ifndef DEBUG_PRECISION_ONNX_H
#define DEBUG_PRECISION_ONNX_H

#include "base/container/bitset.h"
#include "base/log.h"
#include "engine/network/network.h"

/* A copy of the network's model in which the layers of `half` (layers; each can have float16) compute in float16.
 * Layers that only move data go along with those that make what they move. The network has to outlive it. */
int precision_onnx_make(const struct network *network, const struct bitset *half, struct log *log, struct model **ret,
                        struct error *err);

/* The same, but they compute in float32, on what float16 can hold: see onnx/half/rounded_nodes.h. */
int precision_onnx_make_rounded(const struct network *network, const struct bitset *half, struct model **ret,
                                struct error *err);

#endif
