/* Random numbers. */
#include "support/unit_test.h"

#include "base/memory.h"
#include "tensor/generate/mersenne_twister.h"

/* What the standard of C++ demands of std::mt19937. */
static void ten_thousandth_number_is_the_known_one(void **state)
{
    struct mersenne_twister random;
    uint32_t last = 0;

    (void)state;
    mersenne_twister_seed(&random, 5489);
    for (int i = 0; i < 10000; i++)
        last = mersenne_twister_next(&random);
    assert_int_equal(last, 4123659995);
}

static void many_fractions_are_those_that_come_one_by_one(void **state)
{
    static const size_t counts[] = {1, 0, 311, 312, 2, 1000, 313, 624, 5};
    static double fractions[1000];

    (void)state;
    for (unsigned drawn = 0; drawn < 3;
         drawn++) { /* after an odd number of draws one fraction lies across two states */
        struct mersenne_twister many, one;

        mersenne_twister_seed(&many, 1);
        mersenne_twister_seed(&one, 1);
        for (unsigned i = 0; i < drawn; i++)
            assert_int_equal(mersenne_twister_next(&many), mersenne_twister_next(&one));
        for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
            mersenne_twister_fractions(&many, fractions, counts[i]);
            for (size_t k = 0; k < counts[i]; k++)
                assert_true(fractions[k] == mersenne_twister_next_fraction(&one));
        }
        assert_int_equal(mersenne_twister_next(&many), mersenne_twister_next(&one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousandth_number_is_the_known_one),
        cmocka_unit_test(many_fractions_are_those_that_come_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
