/* base/file/file.h: reading files by mapping them, writing files whole or not at all.
 *
 * The module base/file/ is the way to the disk: files come in as mappings or whole, go out whole or not at all, are
 * moved, locked, listed, or have no name. It uses memory, errors and interruption of base/, and knows no format.
 *
 * A map is shared and read-only. A writer writes to a temporary name in the destination's folder; file_writer_commit()
 * renames it into place; anything else (release without commit, exit, a signal) removes it. Bytes that already lie in
 * a file are copied by the kernel and never pass through user space.
 */
#ifndef BASE_FILE_FILE_H
#define BASE_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

struct file_map {
    const uint8_t *data; /* NULL when the file is empty */
    size_t size;         /* bytes */
    int fd;              /* stays open for kernel copies; -1 when released */
    char *path;          /* as given, owned */
};

/* Maps a regular file. ERR_MISSING when it is not there, ERR_IO otherwise (a directory, no permission, ...). */
int file_map_open(const char *path, struct file_map *ret, struct error *err);
void file_map_release(struct file_map *map);

/* Tells the kernel that the pages of [0, upto) need not stay in memory: a walk over a large model keeps a small
 * resident size. The mapping stays valid. */
void file_map_forget(const struct file_map *map, size_t upto);

/* Whether these bytes lie in the mapping, and so in the file. False when it is released. */
bool file_map_holds(const struct file_map *map, const void *data, size_t size);

/* Opens a regular file for reading, close-on-exec. Returns the descriptor; errors as file_map_open(). */
int file_open_to_read(const char *path, struct error *err);

/* Reads the first bytes of a regular file, `size` at the most. Returns how many there are; 0 also for what cannot be
 * read. */
size_t file_read_start(const char *path, void *ret, size_t size);

/* Reads a whole file into malloc'd memory with a NUL behind it; `limit` bytes at the most (ERR_UNSUPPORTED above). */
int file_read(const char *path, size_t limit, char **ret, size_t *ret_size, struct error *err);

struct file_writer {
    int fd;
    char *path;      /* destination */
    char *temporary; /* current name */
    char *buffer;    /* gathers small writes */
    size_t buffered;
    uint64_t written; /* bytes handed over so far, buffered ones included */
    uint64_t syncing; /* of them, those on their way to the disk */
};

/* Durable files survive a power cut once committed (fsync of file and folder); intermediate ones need only be whole. */
enum file_durability { FILE_INTERMEDIATE, FILE_DURABLE };

/* Creates missing folders of `path`. An existing file at `path` is replaced by commit, not before, keeping its mode; an
 * empty one is filled then and stays the same file, for those who have it open already. A symbolic link at `path` is
 * followed: the file it points to is replaced. A device, a pipe, or what our own standard output or error is
 * (/dev/stdout) is written directly, with no temporary file: nothing can be taken back there. */
int file_writer_open(struct file_writer *writer, const char *path, struct error *err);

/* The same; a new file gets the mode of `like` (NULL: what the umask leaves of 0666). */
int file_writer_open_like(struct file_writer *writer, const char *path, const struct stat *like, struct error *err);

int file_writer_add(struct file_writer *writer, const void *data, size_t size, struct error *err);

/* Appends `size` bytes of the open file `fd` from `offset`, copied by the kernel (shared blocks, else copy_file_range,
 * else sendfile, else a buffer). Small pieces of a mapped file should go through file_writer_add() instead. */
int file_writer_copy(struct file_writer *writer, int fd, uint64_t offset, uint64_t size, struct error *err);

/* Hands buffered bytes to the kernel: whoever opens writer->temporary sees all that was added. */
int file_writer_flush(struct file_writer *writer, struct error *err);

/* Replaces bytes that were added before. ERR_UNSUPPORTED when the destination is a pipe or the like. */
int file_writer_overwrite(struct file_writer *writer, uint64_t offset, const void *data, size_t size,
                          struct error *err);

/* Lets the system begin to bring to disk what was written so far, so that committing a large FILE_DURABLE file has less
 * left to wait for. To be called now and then; a matter of speed only. */
void file_writer_begin_sync(struct file_writer *writer);

/* Puts the file in place, or removes the temporary one on failure. Either way the writer is released. */
int file_writer_commit(struct file_writer *writer, enum file_durability durability, struct error *err);
void file_writer_release(struct file_writer *writer); /* without commit: the temporary file is removed */

/* Writes `size` bytes to `path` at once through a writer. */
int file_write(const char *path, const void *data, size_t size, enum file_durability durability, struct error *err);

/* A name beside `path` that probably nobody has: "<folder>/.<basename>.<process>.<sixteen digits>.<six characters>".
 * The process is told, and by the digits where its number counts (which start of which machine, which PID namespace),
 * so that file_remove_leftovers() knows what nobody is writing any more. malloc'd. */
char *file_temporary_name(const char *path);

/* Removes what processes that were killed have left of their writers for `path`: regular files of our temporary names
 * whose process was of this machine, since its last start, and of our PID namespace, and is gone. Not to be called
 * while a writer for `path` is open here. What cannot be removed stays. */
void file_remove_leftovers(const char *path);

/* For a file that several processes read, change and put in place anew: waits until it is this one's turn. The lock is
 * on what `path` names when it is taken, and goes with the last descriptor of it, so also with a process that is
 * killed; no file of its own is left behind. To change takes turns with everybody, and makes an empty file where there
 * is none; to read takes turns with those who change. Close `ret_fd` to give the lock back. ERR_MISSING when there is
 * nothing to read, ERR_IO when it cannot be opened or its file system has no locks, ERR_INTERRUPTED. */
enum file_lock { FILE_LOCK_TO_READ, FILE_LOCK_TO_CHANGE };
int file_lock(const char *path, enum file_lock kind, int *ret_fd, struct error *err);

bool file_exists(const char *path); /* anything of that name, a dangling link included */
bool file_is_folder(const char *path);
int file_make_folders(const char *path, struct error *err); /* mkdir -p */
int file_make_parent_folders(const char *path, struct error *err);

/* Makes an empty folder for this user alone, "<folder of temporary files>/polygraphy-<purpose>-XXXXXX", for files that
 * pass between this program and another one. Its absolute path is malloc'd. ERR_IO: the message says how to choose
 * another place. */
int file_make_temporary_folder(const char *purpose, char **ret, struct error *err);

/* Writes what the regular file `from` holds to `to`, through a writer. */
int file_copy(const char *from, const char *to, enum file_durability durability, struct error *err);

/* Renames a file or folder; across file systems it is copied (a folder with all it holds) and then removed. Never
 * replaces an existing `to`: ERR_EXISTS. */
int file_move(const char *from, const char *to, struct error *err);

/* Removes a file, or a folder and all that it holds; links are removed, not followed. ERR_IO. */
int file_remove_tree(const char *path, struct error *err);

/* malloc'd parts of a path. */
char *file_folder(const char *path);   /* "." when there is none */
char *file_basename(const char *path); /* ignores trailing slashes: "a/b/" gives "b" */
char *file_join(const char *folder, const char *name);

/* Where the extension of the last part of a path begins, with its dot; at the end of the path when there is none:
 * ".hidden" is a name. */
const char *file_extension(const char *path);

/* What a chain of symbolic links at `path` ends at, whether that exists or not; `path` itself when it is no link.
 * NULL with errno set when the chain goes in a circle. malloc'd. */
char *file_follow_links(const char *path);

/* Where a file of the name `path` is or would be: its folder without links (as far as there is one) and its own name.
 * malloc'd. */
char *file_place(const char *path);

/* The absolute, link-free form of `path`, or NULL with errno set. malloc'd. */
char *file_real_path(const char *path);

#endif
