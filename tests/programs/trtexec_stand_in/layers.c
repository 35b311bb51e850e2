/* tests/programs/trtexec_stand_in/layers.c: layer information. */
#include "programs/trtexec_stand_in/stand_in.h"

void layers_export(const struct loaded_engine *loaded)
{
    (void)loaded;
}
