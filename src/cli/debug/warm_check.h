/* cli/debug/warm_check.h: what checks that run this program need, loaded once for all of them. */
#ifndef CLI_DEBUG_WARM_CHECK_H
#define CLI_DEBUG_WARM_CHECK_H

/* `words` are those of the check, NULL-terminated. Loads the libraries that its runners use, and lets ONNX Runtime do
 * what it does once in a process; nothing when it names an ONNX Runtime of its own. What cannot be loaded is left to
 * the check to complain about. */
void warm_check_prepare(void *words);

#endif
