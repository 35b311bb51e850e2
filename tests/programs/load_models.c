/* tests/programs/load_models.c: whether ONNX Runtime takes models: load_models MODEL... Ends with 1 after the first one
 * that it refuses. */
#include <stdio.h>

#include "backend/backend.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct backend_request request = {.model.path = argv[i]};
        struct backend_session *session;
        struct error err = {0};

        if (onnxrt_backend.open(&request, &session, &err) < 0) {
            printf("%s\n", err.message);
            return 1;
        }
        onnxrt_backend.close(session);
    }
    return 0;
}
