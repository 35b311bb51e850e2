/* tensor/values/data_type.h: element types. The numbers are those of ONNX's TensorProto.DataType; ONNX Runtime shares
 * them. */
#ifndef TENSOR_VALUES_DATA_TYPE_H
#define TENSOR_VALUES_DATA_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

enum data_type {
    DATA_UNDEFINED = 0,
    DATA_FLOAT32 = 1,
    DATA_UINT8 = 2,
    DATA_INT8 = 3,
    DATA_UINT16 = 4,
    DATA_INT16 = 5,
    DATA_INT32 = 6,
    DATA_INT64 = 7,
    DATA_STRING = 8,
    DATA_BOOL = 9,
    DATA_FLOAT16 = 10,
    DATA_FLOAT64 = 11,
    DATA_UINT32 = 12,
    DATA_UINT64 = 13,
    DATA_COMPLEX64 = 14,
    DATA_COMPLEX128 = 15,
    DATA_BFLOAT16 = 16,
    DATA_FLOAT8E4M3FN = 17,
    DATA_FLOAT8E4M3FNUZ = 18,
    DATA_FLOAT8E5M2 = 19,
    DATA_FLOAT8E5M2FNUZ = 20,
    DATA_UINT4 = 21,
    DATA_INT4 = 22,
    DATA_FLOAT4E2M1 = 23,
    DATA_TYPE_COUNT,
};

const char *data_type_name(enum data_type type);  /* "float32", "bool", "string", ...; "undefined" for anything else */
enum data_type data_type_parse(struct text name); /* ignoring case; DATA_UNDEFINED when unknown */
unsigned data_type_bits(enum data_type type);     /* of one element; 0 for strings and undefined */
bool data_type_is_float(enum data_type type);     /* any floating type, the 8- and 4-bit ones included */
bool data_type_is_integer(enum data_type type);   /* signed or unsigned, 4-bit included; not bool */
bool data_type_is_signed(enum data_type type);    /* of an integer type */

/* Unit roundoff: largest relative error of rounding to the type. 0 for all but float64, float32, float16, bfloat16. */
double data_type_unit_roundoff(enum data_type type);

/* Conversions between single elements of the small floating types and float32, rounding to nearest even. Overflow
 * gives infinity, or NaN in the types that have no infinity (ONNX, "Float stored in 8 bits"). */
double float64_round_to_float32(double value);
float float16_to_float32(uint16_t bits);
uint16_t float32_to_float16(float value);
uint16_t float64_to_float16(double value); /* rounded once */
float bfloat16_to_float32(uint16_t bits);
uint16_t float32_to_bfloat16(float value);
float float8_to_float32(enum data_type type, uint8_t bits);
float float4_to_float32(uint8_t bits); /* FLOAT4E2M1, in the low half */

#endif
