/* base/error.c: filling struct error. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Drops an incomplete UTF-8 sequence at the end of a truncated message. */
static void drop_cut_character(char *message)
{
    size_t end = strlen(message);
    size_t start = end;

    while (start > 0 && ((unsigned char)message[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)message[start - 1];
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (end - (start - 1) < length)
        message[start - 1] = '\0';
}

/* Names in a message are untrusted: they must not start lines or control a terminal. */
static void blank_control_characters(char *message)
{
    for (; *message; message++)
        if ((unsigned char)*message < ' ' || *message == '\x7F')
            *message = ' ';
}

/* Writes "<formatted><separator><rest>". Uses a separate buffer, so that arguments may point into `err`. */
static void set_error_message(struct error *err, const char *separator, const char *rest, const char *format,
                              va_list args)
{
    char message[sizeof(err->message)];
    int length = vsnprintf(message, sizeof(message), format, args);
    size_t used = length < 0 ? 0 : (size_t)length;

    if (used < sizeof(message))
        used += (size_t)snprintf(message + used, sizeof(message) - used, "%s%s", separator, rest);
    if (used >= sizeof(message))
        drop_cut_character(message);
    blank_control_characters(message);
    memcpy(err->message, message, sizeof(message));
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        set_error_message(err, "", "", format, args);
        va_end(args);
        err->code = code;
        err->foreign_code = 0;
    }
    return code;
}

int error_set_errno(struct error *err, enum error_code code, const char *format, ...)
{
    const char *reason = strerror(errno);
    va_list args;

    if (err) {
        va_start(args, format);
        set_error_message(err, ": ", reason, format, args);
        va_end(args);
        err->code = code;
        err->foreign_code = 0;
    }
    return code;
}

int error_context(struct error *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return ERR_INVALID;
    va_start(args, format);
    set_error_message(err, ": ", err->message, format, args);
    va_end(args);
    return err->code;
}
