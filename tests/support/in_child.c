/* support/in_child.c: see in_child.h. */
#include "support/in_child.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int in_child(int (*function)(void))
{
    int status;

    pid_t child = fork();
    if (child == 0)
        _exit(function());
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
