/* Fails or kills at the k-th call that touches a file below a folder. Loaded with LD_PRELOAD.

   arm(folder, k, code, sticky): the k-th call from now fails with `code` (0: kill -9 instead of the
   call, -1: only count); sticky: so do all calls after it. calls(): how many were counted.
   Reading counts too for kills: open and unlink are points where a process may die, but do not fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static int at = 0, count = 0, fault = -1, forever = 0;

void arm(const char *folder, int k, int code, int sticky) {
  strncpy(below, folder, sizeof below - 1);
  count = 0, at = k, fault = code, forever = sticky;
}
int calls(void) { return __atomic_load_n(&count, __ATOMIC_SEQ_CST); }

static int due(int can_fail) {
  if (!at || (fault > 0 && !can_fail)) return 0;
  int now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (!(now == at || (forever && now > at)) || fault < 0) return 0;
  if (fault == 0) kill(getpid(), SIGKILL);
  errno = fault;
  return 1;
}
static int ours(const char *path) { return path && at && strncmp(path, below, strlen(below)) == 0; }
static int ours_open(int fd) {
  char link[64], path[PATH_MAX];
  if (!at) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return ours(path);
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *b, size_t n) { return ours_open(fd) && due(1) ? -1 : REAL(write)(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { return ours_open(fd) && due(1) ? -1 : REAL(pwrite)(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { return ours_open(fd) && due(1) ? -1 : REAL(pwrite64)(fd, b, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { return ours_open(fd) && due(1) ? -1 : REAL(writev)(fd, v, n); }
int fsync(int fd) { return ours_open(fd) && due(1) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return ours_open(fd) && due(1) ? -1 : REAL(fdatasync)(fd); }
int rename(const char *a, const char *b) { return ours(a) && due(1) ? -1 : REAL(rename)(a, b); }
int renameat2(int d, const char *a, int e, const char *b, unsigned f) { return ours(a) && due(1) ? -1 : REAL(renameat2)(d, a, e, b, f); }
int link(const char *a, const char *b) { return ours(b) && due(1) ? -1 : REAL(link)(a, b); }
int linkat(int d, const char *a, int e, const char *b, int f) { return ours(b) && due(1) ? -1 : REAL(linkat)(d, a, e, b, f); }
int mkdir(const char *p, mode_t m) { return ours(p) && due(1) ? -1 : REAL(mkdir)(p, m); }
int unlink(const char *p) { return ours(p) && due(0) ? -1 : REAL(unlink)(p); }
int rmdir(const char *p) { return ours(p) && due(0) ? -1 : REAL(rmdir)(p); }
int close(int fd) {
  /* A failing close closes all the same. */
  int failed = ours_open(fd) && due(1), code = errno, result = REAL(close)(fd);
  if (failed) errno = code;
  return failed ? -1 : result;
}
int open(const char *p, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (ours(p)) due(0);
  return REAL(open)(p, flags, mode);
}
int open64(const char *p, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (ours(p)) due(0);
  return REAL(open64)(p, flags, mode);
}
