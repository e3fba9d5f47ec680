/* Writes down every call that changes a file below a folder. Loaded with LD_PRELOAD.

   record(folder, log): from now on, calls about files below `folder` are written to the descriptor `log`, in the
   order in which they ended; record("", -1): no more. An entry is a line of words and, for data, the bytes after it:
   open fd flags size path | write fd offset length | truncate fd length | sync fd | close fd |
   rename flags path path | link path path | unlink path | mkdir path | rmdir path */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static int log_fd = -1;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void record(const char *folder, int fd) { strncpy(below, folder, sizeof below - 1), log_fd = fd; }

static void full(const char *path, char *out) {
  if (path[0] == '/' || !getcwd(out, PATH_MAX - 1)) { snprintf(out, PATH_MAX, "%s", path); return; }
  size_t n = strlen(out);
  snprintf(out + n, PATH_MAX - n, "/%s", path);
}
static int ours(const char *path) {
  char name[PATH_MAX * 2];
  if (log_fd < 0 || !path) return 0;
  full(path, name);
  return strncmp(name, below, strlen(below)) == 0;
}
static int ours_open(int fd) {
  char link[64], path[PATH_MAX];
  if (log_fd < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return ours(path);
}
static void say(const char *line, const void *data, size_t size) {
  REAL(write)(log_fd, line, strlen(line));
  for (size_t done = 0; done < size;) done += REAL(write)(log_fd, (const char *)data + done, size - done);
}
static void written(int fd, const void *data, ssize_t size, off64_t at) {
  char line[96];
  if (size <= 0) return;
  snprintf(line, sizeof line, "write %d %lld %zd\n", fd, (long long)at, size);
  say(line, data, size);
}
static void paths(const char *word, int number, const char *a, const char *b) {
  char line[PATH_MAX * 5], one[PATH_MAX * 2] = "", two[PATH_MAX * 2] = "";
  full(a, one);
  if (b) full(b, two);
  snprintf(line, sizeof line, "%s %d %s\t%s\n", word, number, one, two);
  say(line, 0, 0);
}
static void about(const char *word, int fd, long long number) {
  char line[96];
  snprintf(line, sizeof line, "%s %d %lld\n", word, fd, number);
  say(line, 0, 0);
}
#define ORDERED(type, is_ours, call, entry) \
  if (!(is_ours)) return call;              \
  pthread_mutex_lock(&one);                 \
  type result = call;                       \
  if (result >= 0) { entry; }               \
  pthread_mutex_unlock(&one);               \
  return result;

ssize_t write(int fd, const void *b, size_t n) { ORDERED(ssize_t, ours_open(fd), REAL(write)(fd, b, n), written(fd, b, result, lseek64(fd, 0, SEEK_CUR) - result)) }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { ORDERED(ssize_t, ours_open(fd), REAL(pwrite)(fd, b, n, o), written(fd, b, result, o)) }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { ORDERED(ssize_t, ours_open(fd), REAL(pwrite64)(fd, b, n, o), written(fd, b, result, o)) }
ssize_t writev(int fd, const struct iovec *v, int n) {
  if (!ours_open(fd)) return REAL(writev)(fd, v, n);
  ssize_t done = 0;
  for (int i = 0; i < n; i++) done += write(fd, v[i].iov_base, v[i].iov_len);
  return done;
}
/* Callers fall back to reading and writing. */
ssize_t copy_file_range(int a, off64_t *x, int b, off64_t *y, size_t n, unsigned f) {
  if (!ours_open(b)) return REAL(copy_file_range)(a, x, b, y, n, f);
  char *data = malloc(n);
  ssize_t got = read(a, data, n), done = got > 0 ? write(b, data, got) : got;
  free(data);
  return done;
}
int ftruncate(int fd, off_t n) { ORDERED(int, ours_open(fd), REAL(ftruncate)(fd, n), about("truncate", fd, n)) }
int ftruncate64(int fd, off64_t n) { ORDERED(int, ours_open(fd), REAL(ftruncate64)(fd, n), about("truncate", fd, n)) }
int fsync(int fd) { ORDERED(int, ours_open(fd), REAL(fsync)(fd), about("sync", fd, 0)) }
int fdatasync(int fd) { ORDERED(int, ours_open(fd), REAL(fdatasync)(fd), about("sync", fd, 0)) }
int rename(const char *a, const char *b) { ORDERED(int, ours(a), REAL(rename)(a, b), paths("rename", 0, a, b)) }
int renameat2(int d, const char *a, int e, const char *b, unsigned f) { ORDERED(int, ours(a), REAL(renameat2)(d, a, e, b, f), paths("rename", f, a, b)) }
int link(const char *a, const char *b) { ORDERED(int, ours(b), REAL(link)(a, b), paths("link", 0, a, b)) }
int linkat(int d, const char *a, int e, const char *b, int f) { ORDERED(int, ours(b), REAL(linkat)(d, a, e, b, f), paths("link", 0, a, b)) }
int mkdir(const char *p, mode_t m) { ORDERED(int, ours(p), REAL(mkdir)(p, m), paths("mkdir", 0, p, 0)) }
int unlink(const char *p) { ORDERED(int, ours(p), REAL(unlink)(p), paths("unlink", 0, p, 0)) }
int rmdir(const char *p) { ORDERED(int, ours(p), REAL(rmdir)(p), paths("rmdir", 0, p, 0)) }
int close(int fd) {
  int is_ours = ours_open(fd);
  if (is_ours) about("close", fd, 0);
  return REAL(close)(fd);
}
#define OPEN(name)                                                                     \
  int name(const char *p, int flags, ...) {                                            \
    va_list rest;                                                                      \
    va_start(rest, flags);                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;            \
    va_end(rest);                                                                      \
    ORDERED(int, ours(p), REAL(name)(p, flags, mode),                                  \
            about("open", result, flags & O_TRUNC ? 1 : 0); paths("at", result, p, 0)) \
  }
OPEN(open)
OPEN(open64)
