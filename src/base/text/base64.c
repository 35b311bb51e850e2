/* base/text/base64.c: RFC 4648, section 4, by lookup of 12 bits (encoding) and of single characters (decoding). */
#include "base/text/base64.h"

#include <string.h>

/* All pairs of characters, so that 12 bits need one lookup; 8 KiB fit in any L1 cache. */
#define ROW(c)                                                                                                         \
    c "A" c "B" c "C" c "D" c "E" c "F" c "G" c "H" c "I" c "J" c "K" c "L" c "M" c "N" c "O" c "P" c "Q" c "R" c      \
      "S" c "T" c "U" c "V" c "W" c "X" c "Y" c "Z" c "a" c "b" c "c" c "d" c "e" c "f" c "g" c "h" c "i" c "j" c      \
      "k" c "l" c "m" c "n" c "o" c "p" c "q" c "r" c "s" c "t" c "u" c "v" c "w" c "x" c "y" c "z" c "0" c "1" c      \
      "2" c "3" c "4" c "5" c "6" c "7" c "8" c "9" c "+" c "/"

static const char pairs[64][128] = {
    ROW("A"), ROW("B"), ROW("C"), ROW("D"), ROW("E"), ROW("F"), ROW("G"), ROW("H"), ROW("I"), ROW("J"), ROW("K"),
    ROW("L"), ROW("M"), ROW("N"), ROW("O"), ROW("P"), ROW("Q"), ROW("R"), ROW("S"), ROW("T"), ROW("U"), ROW("V"),
    ROW("W"), ROW("X"), ROW("Y"), ROW("Z"), ROW("a"), ROW("b"), ROW("c"), ROW("d"), ROW("e"), ROW("f"), ROW("g"),
    ROW("h"), ROW("i"), ROW("j"), ROW("k"), ROW("l"), ROW("m"), ROW("n"), ROW("o"), ROW("p"), ROW("q"), ROW("r"),
    ROW("s"), ROW("t"), ROW("u"), ROW("v"), ROW("w"), ROW("x"), ROW("y"), ROW("z"), ROW("0"), ROW("1"), ROW("2"),
    ROW("3"), ROW("4"), ROW("5"), ROW("6"), ROW("7"), ROW("8"), ROW("9"), ROW("+"), ROW("/"),
};

/* Writes the characters of the 24 bits at the lower end of `bits`. */
static void encode_three(uint32_t bits, char *to)
{
    memcpy(to, &pairs[bits >> 18 & 63][2 * (bits >> 12 & 63)], 2);
    memcpy(to + 2, &pairs[bits >> 6 & 63][2 * (bits & 63)], 2);
}

void base64_encode(const void *data, size_t size, char *ret)
{
    const uint8_t *from = data;

    for (; size >= 3; size -= 3, from += 3, ret += 4)
        encode_three((uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2], ret);
    if (size > 0) {
        encode_three((uint32_t)from[0] << 16 | (uint32_t)(size == 2 ? from[1] : 0) << 8, ret);
        ret[3] = '=';
        if (size == 1)
            ret[2] = '=';
    }
}

#define INVALID 0x80

#define VALUE(c)                                                                                                       \
    ((uint8_t)((c) >= 'A' && (c) <= 'Z'   ? (c) - 'A'                                                                  \
               : (c) >= 'a' && (c) <= 'z' ? (c) - 'a' + 26                                                             \
               : (c) >= '0' && (c) <= '9' ? (c) - '0' + 52                                                             \
               : (c) == '+'               ? 62                                                                         \
               : (c) == '/'               ? 63                                                                         \
                                          : INVALID))
#define VALUES_4(c) VALUE(c), VALUE((c) + 1), VALUE((c) + 2), VALUE((c) + 3)
#define VALUES_16(c) VALUES_4(c), VALUES_4((c) + 4), VALUES_4((c) + 8), VALUES_4((c) + 12)
#define VALUES_64(c) VALUES_16(c), VALUES_16((c) + 16), VALUES_16((c) + 32), VALUES_16((c) + 48)

static const uint8_t values[256] = {VALUES_64(0), VALUES_64(64), VALUES_64(128), VALUES_64(192)};

/* Decodes four characters to 24 bits; the result has a bit in 0xFF000000 when one of them is not in the alphabet. */
static uint32_t decode_four(const uint8_t *text)
{
    uint32_t a = values[text[0]], b = values[text[1]], c = values[text[2]], d = values[text[3]];

    return (a << 18 | b << 12 | c << 6 | d) | ((a | b | c | d) & INVALID) << 24;
}

size_t base64_decode(const char *text, size_t size, uint8_t *ret)
{
    const uint8_t *from = (const uint8_t *)text;
    uint8_t *to = ret;
    size_t padding = 0;
    uint32_t bad = 0;

    if (size % 4 != 0)
        return SIZE_MAX;
    if (size == 0)
        return 0;
    while (padding < 2 && text[size - 1 - padding] == '=')
        padding++;
    const uint8_t *end = from + size - (padding > 0 ? 4 : 0);
    for (; from < end; from += 4, to += 3) {
        uint32_t bits = decode_four(from);
        bad |= bits;
        to[0] = (uint8_t)(bits >> 16);
        to[1] = (uint8_t)(bits >> 8);
        to[2] = (uint8_t)bits;
    }
    if (padding > 0) {
        const uint8_t last[4] = {from[0], from[1], padding == 2 ? 'A' : from[2], 'A'};
        uint32_t bits = decode_four(last);
        bad |= bits;
        *to++ = (uint8_t)(bits >> 16);
        if (padding == 1)
            *to++ = (uint8_t)(bits >> 8);
    }
    return bad >> 24 ? SIZE_MAX : (size_t)(to - ret);
}
