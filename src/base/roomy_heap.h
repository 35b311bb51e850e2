/* base/roomy_heap.h: memory for a process that makes much of it and soon ends.
 *
 * The usual malloc() gives large blocks back to the system at once, and gets small pieces from it: each page of each
 * block is brought in by an interruption of its own, again and again. That can be a fifth of the time of a short
 * inference.
 */
#ifndef BASE_ROOMY_HEAP_H
#define BASE_ROOMY_HEAP_H

/* Makes malloc() keep what is freed, ask for a lot at a time, and use large pages where the system lets those have them
 * who ask for it. To be called before there are threads. A matter of speed only: it does nothing where that cannot be
 * chosen. */
void roomy_heap_choose(void);

#endif
