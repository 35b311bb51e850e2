/* saturates_products: succeeds where sums of two 8-bit products saturate, on the processor that runs test programs. */
#include "base/system.h"

int main(void)
{
    return system_saturates_products() ? 0 : 1;
}
