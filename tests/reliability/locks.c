/* File locks that lie, fail or hang, as LOCKS says: lie, ENOLCK, EIO, hang. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int locked(void) {
  const char *how = getenv("LOCKS");
  if (!how || !strcmp(how, "lie")) return 0;
  if (!strcmp(how, "hang")) for (;;) pause();
  errno = !strcmp(how, "EIO") ? EIO : ENOLCK;
  return -1;
}
int flock(int fd, int operation) { return locked(); }
int lockf(int fd, int command, off_t length) { return locked(); }
int lockf64(int fd, int command, off64_t length) { return locked(); }
static int is_lock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (is_lock(command)) return locked();
  return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl64"))(fd, command, argument);
}
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (is_lock(command)) return locked();
  return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl"))(fd, command, argument);
}
