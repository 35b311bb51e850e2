/* A runner of polygraphy that stays, in C: it copies the model's only input to its only output.
 *
 *     cc -o copying copying.c
 *     polygraphy run model.onnx --onnxrt --runner './copying {requests} {answers} x y'
 *
 * It shows the protocol and the files; an engine would compile the model, and compute. The last two words are the names
 * of the input and of the output. Both are safetensors: 8 bytes with the length of the header, the header as JSON, the
 * data. What is read here with the means of C is JSON, too: an engine takes a library for it, or accepts, as this does,
 * no names and paths with a quotation mark or a backslash.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a member of the request, in `buffer`. */
static const char *find_text(const char *request, const char *name, char *buffer, size_t size)
{
    char key[32];
    const char *value;
    size_t length;

    snprintf(key, sizeof(key), "\"%s\":\"", name);
    value = strstr(request, key);
    value = value != NULL ? value + strlen(key) : "";
    length = strcspn(value, "\"");
    snprintf(buffer, size, "%.*s", (int)length, value);
    return buffer;
}

/* Writes the bytes of one file to the other, with another name for the tensor. */
static const char *copy_tensor(const char *from, const char *to, const char *input, const char *output)
{
    static unsigned char bytes[1 << 20];
    char quoted[256], header[1 << 16] = "";
    uint64_t size = 0, new_size;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    const char *name, *wrong = "the files cannot be opened";
    size_t count;

    if (in == NULL || out == NULL)
        goto done;
    wrong = "the header of the inputs cannot be read";
    if (fread(&size, sizeof(size), 1, in) != 1 || size >= sizeof(header) || fread(header, size, 1, in) != 1)
        goto done;
    snprintf(quoted, sizeof(quoted), "\"%s\"", input);
    name = strstr(header, quoted);
    wrong = "the input is not called like that";
    if (name == NULL)
        goto done;
    new_size = size - strlen(input) + strlen(output);
    fwrite(&new_size, sizeof(new_size), 1, out); /* as a little-endian machine has it */
    fprintf(out, "%.*s\"%s\"%s", (int)(name - header), header, output, name + strlen(quoted));
    while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
        fwrite(bytes, 1, count, out);
    wrong = ferror(in) || ferror(out) ? "the data cannot be copied" : NULL;
done:
    if (in != NULL)
        fclose(in);
    if (out != NULL && fclose(out) != 0)
        wrong = "the outputs cannot be written";
    return wrong;
}

int main(int argc, char **argv)
{
    static char request[1 << 16], kind[16], from[4096], to[4096];
    FILE *requests = argc == 5 ? fopen(argv[1], "r") : NULL, *answers = argc == 5 ? fopen(argv[2], "w") : NULL;

    if (requests == NULL || answers == NULL) {
        fputs("usage: copying REQUESTS ANSWERS INPUT OUTPUT\n", stderr);
        return 2;
    }
    setvbuf(answers, NULL, _IOLBF, 0); /* each answer leaves with its line */
    fputs("{\"version\": 1, \"engine\": \"copying\"}\n", answers);
    while (fgets(request, sizeof(request), requests) != NULL) {
        const char *number = strstr(request, "\"id\":"), *wrong = NULL;

        if (strcmp(find_text(request, "request", kind, sizeof(kind)), "infer") == 0)
            wrong = copy_tensor(find_text(request, "inputs", from, sizeof(from)),
                                find_text(request, "outputs", to, sizeof(to)), argv[3], argv[4]);
        fprintf(answers, wrong != NULL ? "{\"id\": %ld, \"error\": \"%s\"}\n" : "{\"id\": %ld}\n",
                number != NULL ? strtol(number + strlen("\"id\":"), NULL, 10) : 0, wrong);
    }
    return 0;
}
