/* engine/onednn/kernel.c: a oneDNN primitive as a kernel; all one-time work is done at its creation. See onednn.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

#define ALIGNMENT 64        /* of our buffers: a cache line */
#define NEEDED_ALIGNMENT 16 /* SSE 4.1 implementations use aligned memory operands of instructions for tensors */

static bool pointer_is_aligned(const void *data)
{
    return (uintptr_t)data % NEEDED_ALIGNMENT == 0;
}

void *onednn_allocate(size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + (size == 0 ? ALIGNMENT : 0));
}

/* Copies between two descriptors with equal dimensions. False if oneDNN cannot. */
static bool copy_memory(const struct onednn *onednn, const struct onednn_memory_desc *from, const void *source,
                        const struct dnnl_memory_desc *to, void *target)
{
    struct dnnl_memory_desc *described = onednn->dialect->memory_desc_new(from);
    struct dnnl_primitive_desc *descriptor = NULL;
    struct dnnl_primitive *primitive = NULL;
    struct onednn_exec_arg args[2] = {{ONEDNN_ARG_SRC, NULL}, {ONEDNN_ARG_DST, NULL}};
    bool done = described &&
                onednn->reorder_primitive_desc_create(&descriptor, described, onednn->engine, to, onednn->engine,
                                                      NULL) == ONEDNN_SUCCESS &&
                onednn->primitive_create(&primitive, descriptor) == ONEDNN_SUCCESS &&
                onednn->memory_create(&args[0].memory, described, onednn->engine, (void *)(uintptr_t)source) ==
                    ONEDNN_SUCCESS &&
                onednn->memory_create(&args[1].memory, to, onednn->engine, target) == ONEDNN_SUCCESS &&
                onednn->primitive_execute(primitive, onednn->stream, 2, args) == ONEDNN_SUCCESS &&
                onednn->stream_wait(onednn->stream) == ONEDNN_SUCCESS;

    for (size_t i = 0; i < ARRAY_LEN(args); i++) {
        if (args[i].memory)
            onednn->memory_destroy(args[i].memory);
    }
    if (primitive)
        onednn->primitive_destroy(primitive);
    if (descriptor)
        onednn->primitive_desc_destroy(descriptor);
    onednn->dialect->memory_desc_free(described);
    return done;
}

/* A run-time argument, in addition to its entry in onednn_kernel.args. */
struct run_argument {
    bool is_output;
    size_t position;
    size_t bytes;
    const void *data; /* current address of the memory object */
    void *aligned;    /* buffer for unaligned tensors; NULL until needed */
};

struct onednn_kernel {
    struct kernel kernel;
    const struct onednn *onednn;
    int threads;
    struct dnnl_primitive *primitive;
    struct onednn_exec_arg *args; /* run-time arguments come first */
    size_t arg_count, run_count;
    struct run_argument *run; /* run_count */
    void **buffers;           /* packed constants, scratchpad */
    size_t buffer_count;
    bool adds; /* input `added` is copied to the output before the run */
    size_t added;
};

static void onednn_kernel_free(struct kernel *kernel)
{
    struct onednn_kernel *self = (struct onednn_kernel *)kernel;

    for (size_t i = 0; i < self->arg_count; i++) {
        if (self->args[i].memory)
            self->onednn->memory_destroy(self->args[i].memory);
    }
    if (self->primitive)
        self->onednn->primitive_destroy(self->primitive);
    for (size_t i = 0; i < self->run_count; i++)
        free(self->run[i].aligned);
    for (size_t i = 0; i < self->buffer_count; i++)
        free(self->buffers[i]);
    free(self->buffers);
    free(self->run);
    free(self->args);
    free(self->kernel.output_shapes);
    free(self);
}

/* The address for an argument: the tensor's, or an aligned copy's. */
static int set_tensor_memory(struct run_argument *run, const struct tensor *tensor, const void **ret, struct error *err)
{
    *ret = tensor->data;
    if (pointer_is_aligned(tensor->data))
        return 0;
    if (!run->aligned)
        run->aligned = onednn_allocate(run->bytes);
    if (!run->aligned)
        return error_set(err, ERR_MEMORY, "there is no memory for a copy of %zu bytes", run->bytes);
    if (!run->is_output)
        memcpy(run->aligned, tensor->data, run->bytes);
    *ret = run->aligned;
    return 0;
}

/* In version 2, setting an address also clears the padding, so it is only set if it has changed; primitives clear the
 * padding of their outputs themselves. */
static int set_argument_memories(struct onednn_kernel *self, const struct tensor *inputs, const struct tensor *outputs,
                                 struct error *err)
{
    for (size_t i = 0; i < self->run_count; i++) {
        struct run_argument *run = &self->run[i];
        const struct tensor *tensor = run->is_output ? &outputs[run->position] : &inputs[run->position];
        const void *data;
        int rc = set_tensor_memory(run, tensor, &data, err);

        if (rc < 0)
            return rc;
        if (run->is_output && self->adds && inputs[self->added].data != data)
            memcpy((void *)(uintptr_t)data, inputs[self->added].data, run->bytes);
        if (data == run->data)
            continue;
        if (self->onednn->memory_set_data_handle(self->args[i].memory, (void *)(uintptr_t)data) != ONEDNN_SUCCESS)
            return error_set(err, ERR_BACKEND, "oneDNN does not take a tensor of %zu bytes", run->bytes);
        run->data = data;
    }
    return 0;
}

static int onednn_kernel_run(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs,
                             struct error *err)
{
    struct onednn_kernel *self = (struct onednn_kernel *)kernel;
    const struct onednn *onednn = self->onednn;
    int rc = set_argument_memories(self, inputs, outputs, err);

    if (rc < 0)
        return rc;
    onednn_use_threads(onednn, self->threads);
    if (onednn->primitive_execute(self->primitive, onednn->stream, (int)self->arg_count, self->args) !=
            ONEDNN_SUCCESS ||
        onednn->stream_wait(onednn->stream) != ONEDNN_SUCCESS)
        return error_set(err, ERR_BACKEND, "oneDNN failed to run a kernel");
    ARRAY_EACH (const struct run_argument, run, self->run, self->run_count)
        if (run->is_output && run->data != outputs[run->position].data)
            memcpy((void *)(uintptr_t)outputs[run->position].data, run->data, run->bytes);
    return 0;
}

static const struct kernel_functions functions = {onednn_kernel_run, onednn_kernel_free};

/* A buffer that lives as long as the kernel. */
static void *add_kernel_buffer(struct onednn_kernel *self, size_t size)
{
    void *buffer = onednn_allocate(size);

    if (buffer) {
        self->buffers = memory_resize(self->buffers, self->buffer_count + 1, sizeof(*self->buffers));
        self->buffers[self->buffer_count++] = buffer;
    }
    return buffer;
}

static int create_kernel_memory(struct onednn_kernel *self, int arg, const struct dnnl_memory_desc *memory, void *data,
                                struct error *err)
{
    struct onednn_exec_arg *added = &self->args[self->arg_count];

    *added = (struct onednn_exec_arg){.arg = arg};
    if (self->onednn->memory_create(&added->memory, memory, self->onednn->engine, data) != ONEDNN_SUCCESS)
        return error_set(err, ERR_BACKEND, "oneDNN does not describe the memory of a kernel");
    self->arg_count++;
    return 0;
}

/* Adds a constant in the primitive's format; without a copy if possible. */
static int add_kernel_constant(struct onednn_kernel *self, const struct onednn_argument *argument,
                               const struct dnnl_memory_desc *wanted, struct error *err)
{
    const struct onednn *onednn = self->onednn;
    bool borrowed = !argument->owned_values && pointer_is_aligned(argument->values);
    void *packed;

    if (borrowed && onednn_memory_equal(onednn, &argument->given, wanted))
        return create_kernel_memory(self, argument->arg, wanted, (void *)(uintptr_t)argument->values, err);
    packed = add_kernel_buffer(self, onednn->memory_desc_get_size(wanted));
    if (!packed)
        return error_set(err, ERR_MEMORY, "there is no memory for %zu bytes of packed weights",
                         onednn->memory_desc_get_size(wanted));
    if (!copy_memory(onednn, &argument->given, argument->values, wanted, packed))
        return error_set(err, ERR_UNSUPPORTED, "oneDNN cannot bring weights into the layout that a kernel wants");
    return create_kernel_memory(self, argument->arg, wanted, packed, err);
}

static int add_kernel_scratchpad(struct onednn_kernel *self, const struct dnnl_primitive_desc *descriptor,
                                 struct error *err)
{
    const struct onednn *onednn = self->onednn;
    const struct dnnl_memory_desc *memory = onednn->primitive_desc_query_md(descriptor, ONEDNN_QUERY_SCRATCHPAD_MD, 0);
    size_t size = memory ? onednn->memory_desc_get_size(memory) : 0;
    void *buffer;

    if (size == 0)
        return 0;
    buffer = add_kernel_buffer(self, size);
    if (!buffer)
        return error_set(err, ERR_MEMORY, "there is no memory for %zu bytes that a kernel works in", size);
    return create_kernel_memory(self, ONEDNN_ARG_SCRATCHPAD, memory, buffer, err);
}

/* Adds all arguments, run-time arguments first. */
static int add_kernel_arguments(struct onednn_kernel *self, const struct onednn_attempt *attempt,
                                const struct dnnl_primitive_desc *descriptor, bool constants, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < attempt->arguments.count; i++) {
        const struct onednn_argument *argument = &attempt->arguments.items[i];
        const struct dnnl_memory_desc *memory;

        if (argument->use == ONEDNN_ADDED_TO) {
            self->adds = true;
            self->added = argument->position;
            continue;
        }
        if ((argument->use == ONEDNN_FROM_CONSTANT) != constants)
            continue;
        memory = self->onednn->primitive_desc_query_md(descriptor, ONEDNN_QUERY_EXEC_ARG_MD, argument->arg);
        if (constants) {
            rc = add_kernel_constant(self, argument, memory, err);
            continue;
        }
        self->run[self->run_count++] = (struct run_argument){.is_output = argument->use == ONEDNN_TO_OUTPUT,
                                                             .position = argument->position,
                                                             .bytes = self->onednn->memory_desc_get_size(memory)};
        rc = create_kernel_memory(self, argument->arg, memory, NULL, err);
    }
    return rc;
}

int onednn_kernel_new(const struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                      struct kernel **ret, struct error *err)
{
    struct onednn_kernel *self = memory_alloc_zero(1, sizeof(*self));
    int rc;

    self->onednn = attempt->onednn;
    self->threads = attempt->request->threads;
    self->kernel.functions = &functions;
    self->kernel.outputs_known = true;
    self->kernel.output_shapes =
        memory_alloc_zero(attempt->request->layer->outputs.count, sizeof(*self->kernel.output_shapes));
    self->kernel.output_shapes[0] = attempt->output_shape;
    self->args = memory_alloc_zero(attempt->arguments.count + 1, sizeof(*self->args)); /* and the scratchpad */
    self->run = memory_alloc_zero(attempt->arguments.count, sizeof(*self->run));

    rc = add_kernel_arguments(self, attempt, descriptor, false, err);
    if (rc < 0)
        goto done;
    rc = add_kernel_arguments(self, attempt, descriptor, true, err);
    if (rc < 0)
        goto done;
    rc = add_kernel_scratchpad(self, descriptor, err);
    if (rc < 0)
        goto done;
    if (attempt->onednn->primitive_create(&self->primitive, descriptor) != ONEDNN_SUCCESS)
        rc = error_set(err, ERR_BACKEND, "oneDNN does not make a kernel that it had offered");
done:
    if (rc < 0)
        onednn_kernel_free(&self->kernel);
    else
        *ret = &self->kernel;
    return rc;
}
