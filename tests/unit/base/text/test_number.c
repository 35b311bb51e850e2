/* Numbers as text; what is expected is what Python 3.11 and NumPy 1.24 print. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "support/unit_test.h"

static const struct {
    double value;
    const char *text;
} doubles[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {100.0, "100.0"},
    {-2.5, "-2.5"},
    {0.1, "0.1"},
    {0.30000000000000004, "0.30000000000000004"},
    {200.0 / 3, "66.66666666666667"},
    {1e-4, "0.0001"},
    {1e-5, "1e-05"},
    {1.5e-5, "1.5e-05"},
    {123456789012345.0, "123456789012345.0"},
    {1e15, "1000000000000000.0"},
    {9999999999999998.0, "9999999999999998.0"},
    {1e16, "1e+16"},
    {1.2345678901234567e19, "1.2345678901234567e+19"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e100, "1e+100"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {5e-324, "5e-324"},
    {0x1p-44, "5.684341886080802e-14"}, /* %.16g gives ...801e-14, which is another number */
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
};

static void doubles_are_printed_as_python_prints_them(void **state)
{
    char text[NUMBER_TEXT_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(doubles); i++)
        assert_string_equal(number_to_text(doubles[i].value, text), doubles[i].text);
    assert_string_equal(number_to_text(NAN, text), "nan");
    assert_string_equal(number_to_text(-NAN, text), "nan");
}

static void floats_are_printed_as_numpy_prints_them(void **state)
{
    static const struct {
        float value;
        const char *text;
    } floats[] = {
        {2.0763083f, "2.0763083"},
        {0.1f, "0.1"},
        {1e-5f, "1e-05"},
        {16777216.0f, "16777216.0"},
        {123456789.0f, "123456790.0"},
        {1e16f, "1e+16"},
        {FLT_MAX, "3.4028235e+38"},
        {FLT_MIN, "1.1754944e-38"},
        {1e-45f, "1e-45"},
        {-0.0f, "-0.0"},
        {0x1p87f, "1.5474251e+26"},
    };
    char text[NUMBER_TEXT_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(floats); i++)
        assert_string_equal(number_to_text_float32(floats[i].value, text), floats[i].text);
}

static double random_double(uint64_t *seed)
{
    double ret;

    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *seed ^ *seed >> 32;
    memcpy(&ret, &bits, sizeof(ret));
    return ret;
}

static void printed_numbers_read_back(void **state)
{
    uint64_t seed = 1;

    for (int i = 0; i < 20000; i++) {
        char text[NUMBER_TEXT_SIZE];
        double value = random_double(&seed), again;
        if (isnan(value))
            continue;
        assert_true(number_parse_float(text_of(number_to_text(value, text)), &again));
        assert_memory_equal(&again, &value, sizeof(value));
        float single = (float)value;
        assert_true(number_parse_float(text_of(number_to_text_float32(single, text)), &again));
        assert_true((float)again == single);
    }
}

static void locale_changes_nothing(void **state)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    char text[NUMBER_TEXT_SIZE];
    double value;
    size_t i = 0;

    while (i < ARRAY_LEN(with_comma) && !setlocale(LC_ALL, with_comma[i]))
        i++;
    if (i == ARRAY_LEN(with_comma))
        skip();
    number_to_text(1.5, text);
    bool parsed = number_parse_float(TEXT("2.5"), &value);
    bool comma = number_parse_float(TEXT("2,5"), &(double){0});
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "1.5");
    assert_true(parsed && value == 2.5);
    assert_false(comma);
}

static void integers_are_read_as_python_reads_them(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } valid[] = {
        {"0", 0},
        {"007", 7},
        {"+5", 5},
        {"-5", -5},
        {" \t12\n", 12},
        {"1_000_000", 1000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const invalid[] = {"",
                                          " ",
                                          "+",
                                          "-",
                                          "1.0",
                                          "1e3",
                                          "0x10",
                                          "1__0",
                                          "_1",
                                          "1_",
                                          "--1",
                                          "+ 1",
                                          "1 2",
                                          "abc",
                                          "1a",
                                          "9223372036854775808",
                                          "-9223372036854775809",
                                          "99999999999999999999999"};
    int64_t value = 77;

    for (size_t i = 0; i < ARRAY_LEN(valid); i++) {
        assert_true(number_parse_integer(text_of(valid[i].text), &value));
        assert_true(value == valid[i].value);
    }
    value = 77;
    for (size_t i = 0; i < ARRAY_LEN(invalid); i++)
        assert_false(number_parse_integer(text_of(invalid[i]), &value));
    assert_true(value == 77);
}

static void floats_are_read_as_python_reads_them(void **state)
{
    static const struct {
        const char *text;
        double value;
    } valid[] = {
        {"1", 1},
        {"1.", 1},
        {".5", 0.5},
        {"-1.5e3", -1500},
        {"1E+2", 100},
        {"1_0.0_1", 10.01},
        {" 2.5 ", 2.5},
        {"1e400", INFINITY},
        {"1e-400", 0},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"+INF", INFINITY},
        {"1e1_0", 1e10},
    };
    static const char *const invalid[] = {"",     ".",      "e5", "1e",  "1e+", "1_.5",  "1._5",  "0x1p3", "1 2",
                                          "infi", "nan(1)", "in", "1,5", "--1", "1.5.2", "1e5.0", "_1",    "1f"};
    double value = 77;

    for (size_t i = 0; i < ARRAY_LEN(valid); i++) {
        assert_true(number_parse_float(text_of(valid[i].text), &value));
        assert_true(value == valid[i].value);
    }
    assert_true(number_parse_float(TEXT("NaN"), &value) && isnan(value));
    assert_true(number_parse_float(TEXT("-nan"), &value) && isnan(value));
    value = 77;
    for (size_t i = 0; i < ARRAY_LEN(invalid); i++)
        assert_false(number_parse_float(text_of(invalid[i]), &value));
    assert_true(value == 77);
}

static void number_ends_where_its_text_ends(void **state)
{
    int64_t integer;
    double number;

    assert_true(number_parse_integer((struct text){"1234", 2}, &integer));
    assert_true(integer == 12);
    assert_true(number_parse_float((struct text){"1.234", 3}, &number));
    assert_true(number == 1.2);
    assert_false(number_parse_integer((struct text){NULL, 0}, &integer));
    assert_false(number_parse_float((struct text){NULL, 0}, &number));
    assert_false(number_parse_integer((struct text){"1_2", 2}, &integer));
}

static void short_numbers_have_three_digits_and_no_exponent(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0029488, "0.00295"}, {8.7, "8.7"},        {9.999, "10"},
                 {16.66667, "16.7"},     {1234.5678, "1235"}, {0, "0"},
                 {100, "100"},           {-0.5, "-0.5"},      {1e-9, "0.000000001"}};
    char text[NUMBER_TEXT_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(number_to_text_short(cases[i].value, text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_printed_as_python_prints_them),
        cmocka_unit_test(floats_are_printed_as_numpy_prints_them),
        cmocka_unit_test(printed_numbers_read_back),
        cmocka_unit_test(locale_changes_nothing),
        cmocka_unit_test(integers_are_read_as_python_reads_them),
        cmocka_unit_test(floats_are_read_as_python_reads_them),
        cmocka_unit_test(number_ends_where_its_text_ends),
        cmocka_unit_test(short_numbers_have_three_digits_and_no_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
