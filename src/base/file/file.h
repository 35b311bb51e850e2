/* base/file/file.h: reading files by mapping them, writing files atomically.
 *
 * The module base/file/ contains file access: mapping, reading, atomic writing, moving, locking, listing, temporary and
 * unnamed files. It depends on memory, errors and interruption of base/, and does not interpret file contents.
 *
 * A map is shared and read-only. A writer writes to a temporary name in the destination's folder; file_writer_commit()
 * renames it into place; anything else (release without commit, exit, a signal) removes it. Bytes that are already in a
 * file are copied by the kernel, not through user space.
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
    int fd;              /* stays open for kernel copies; -1 when closed or released */
    char *path;          /* as given, owned */
};

/* Maps a regular file. ERR_MISSING when it does not exist, ERR_IO otherwise (a directory, no permission, ...). */
int file_map_open(const char *path, struct file_map *ret, struct error *err);
void file_map_close(struct file_map *map); /* closes the file; the mapping stays */
void file_map_release(struct file_map *map);

/* Lets the kernel drop the pages of [from, to) from memory, so that walking over a large file keeps the resident size
 * small. The mapping stays valid. The time is proportional to the range, also where no page is resident. */
void file_map_forget(const struct file_map *map, size_t from, size_t to);

/* Whether these bytes are inside the mapping. False after release. */
bool file_map_holds(const struct file_map *map, const void *data, size_t size);

/* Opens a regular file for reading, close-on-exec. Returns the descriptor; errors as file_map_open(). */
int file_open_to_read(const char *path, struct error *err);

/* Reads the first bytes of a regular file, at most `size`. Returns the number of bytes read; 0 also if the file cannot
 * be read. */
size_t file_read_start(const char *path, void *ret, size_t size);

/* Reads a whole file, or all that comes through an anonymous pipe, into malloc'd memory followed by a NUL; at most
 * `limit` bytes, ERR_UNSUPPORTED if it is larger. ERR_IO for FIFOs and devices: they may have no end. */
int file_read(const char *path, size_t limit, char **ret, size_t *ret_size, struct error *err);

struct file_writer {
    int fd;
    char *path;      /* destination */
    char *temporary; /* current name */
    char *buffer;    /* gathers small writes */
    size_t buffered;
    uint64_t written; /* bytes handed over so far, buffered ones included */
    uint64_t syncing; /* bytes whose writeback has been started */
};

/* Durable files survive a power cut once committed (fsync of file and folder); intermediate files are only atomic. */
enum file_durability { FILE_INTERMEDIATE, FILE_DURABLE };

/* Creates missing folders of `path`. An existing file at `path` is replaced by commit, not before, keeping its mode; an
 * existing empty file is filled in place and keeps its inode, for processes that have it open already. A symbolic link
 * at `path` is followed: the file it points to is replaced. A device, a pipe, or this process's standard output or
 * error (/dev/stdout) is written directly, without a temporary file: what was written there cannot be undone. */
int file_writer_open(struct file_writer *writer, const char *path, struct error *err);

/* Like file_writer_open(), but a new file gets the mode of `like` (NULL: 0666 without the umask's bits). */
int file_writer_open_like(struct file_writer *writer, const char *path, const struct stat *like, struct error *err);

/* Like file_writer_open(), for formats that need file_writer_overwrite(): ERR_UNSUPPORTED for a device, a pipe, or this
 * process's standard output or error, to which nothing is written. */
int file_writer_open_regular(struct file_writer *writer, const char *path, struct error *err);

int file_writer_add(struct file_writer *writer, const void *data, size_t size, struct error *err);

/* Appends `size` bytes of the open file `fd` from `offset`, copied by the kernel (shared blocks, else copy_file_range,
 * else sendfile, else a buffer). Small pieces of a mapped file should go through file_writer_add() instead. */
int file_writer_copy(struct file_writer *writer, int fd, uint64_t offset, uint64_t size, struct error *err);

/* Writes buffered bytes to the temporary file, so that readers of writer->temporary see everything added so far. */
int file_writer_flush(struct file_writer *writer, struct error *err);

/* Replaces bytes that were added before. ERR_UNSUPPORTED when the destination is a pipe or the like. */
int file_writer_overwrite(struct file_writer *writer, uint64_t offset, const void *data, size_t size,
                          struct error *err);

/* Starts writeback of the bytes written so far, so that committing a large FILE_DURABLE file waits less. Call it
 * periodically; it affects speed only. */
void file_writer_begin_sync(struct file_writer *writer);

/* Renames the temporary file to its destination, or removes it on failure. Releases the writer in both cases. */
int file_writer_commit(struct file_writer *writer, enum file_durability durability, struct error *err);
void file_writer_release(struct file_writer *writer); /* without commit: the temporary file is removed */

/* Writes `size` bytes to `path` at once through a writer. */
int file_write(const char *path, const void *data, size_t size, enum file_durability durability, struct error *err);

/* Writes everything of the folder's file system to disk. Many files are made durable much faster together than one by
 * one. */
int file_sync_all(const char *folder, struct error *err);

/* A probably unused name in the folder of `path`: "<folder>/.<basename>.<process>.<sixteen digits>.<six characters>".
 * The name contains the process ID and, in the digits, its scope (boot ID and PID namespace), so that
 * file_remove_leftovers() can recognize files of processes that no longer exist. malloc'd. */
char *file_temporary_name(const char *path);

/* Removes temporary files that writers for `path` of killed processes left behind: regular files with names of
 * file_temporary_name() whose process ran since the last boot of this machine, in this PID namespace, and no longer
 * exists. Not to be called while this process has a writer for `path` open. Files that cannot be removed are
 * skipped. */
void file_remove_leftovers(const char *path);

/* Locks a file that several processes read and replace; waits for the lock. The lock is on the file that `path` names
 * when it is acquired. It is released when its last descriptor is closed, so also when the process is killed; no
 * separate lock file is created. FILE_LOCK_TO_CHANGE is exclusive and creates an empty file if there is none;
 * FILE_LOCK_TO_READ is shared. Close `ret_fd` to release the lock. ERR_MISSING if there is no file to read, ERR_IO if
 * it cannot be opened or its file system has no locks, ERR_INTERRUPTED. */
enum file_lock { FILE_LOCK_TO_READ, FILE_LOCK_TO_CHANGE };
int file_lock(const char *path, enum file_lock kind, int *ret_fd, struct error *err);

bool file_exists(const char *path); /* any kind of file, a dangling link included */
bool file_is_folder(const char *path);
bool file_is_regular(const char *path);                     /* links are followed */
int file_make_folders(const char *path, struct error *err); /* mkdir -p */
int file_make_parent_folders(const char *path, struct error *err);

/* Creates an empty folder that only this user can access, "<folder of temporary files>/polygraphy-<purpose>-XXXXXX",
 * for files exchanged with another program. `ret` gets its absolute path, malloc'd. ERR_IO: the message says how to
 * choose another folder. */
int file_make_temporary_folder(const char *purpose, char **ret, struct error *err);

/* Copies the content of the regular file `from` to `to`, through a writer. */
int file_copy(const char *from, const char *to, enum file_durability durability, struct error *err);

/* Renames a file or folder; across file systems it is copied (a folder with its content) and then removed. Never
 * replaces an existing `to`: ERR_EXISTS. */
int file_move(const char *from, const char *to, struct error *err);

/* Removes a file, or a folder with its content; links are removed, not followed. ERR_IO. */
int file_remove_tree(const char *path, struct error *err);

/* malloc'd parts of a path. */
char *file_folder(const char *path);   /* "." when there is none */
char *file_basename(const char *path); /* ignores trailing slashes: "a/b/" gives "b" */
char *file_join(const char *folder, const char *name);

/* Points to the extension of the last component of `path`, including the dot; to the end of `path` if it has no
 * extension. ".hidden" has none. */
const char *file_extension(const char *path);
bool file_has_extension(const char *path, const char *extension);

/* The target of the chain of symbolic links at `path`, whether it exists or not; `path` itself if it is not a link.
 * NULL with errno set if the chain is circular. malloc'd. */
char *file_follow_links(const char *path);

/* The location of the existing or future file `path`: its folder with links resolved (if the folder exists) and its own
 * name. malloc'd. */
char *file_place(const char *path);

/* The absolute, link-free form of `path`, or NULL with errno set. malloc'd. */
char *file_real_path(const char *path);

#endif
