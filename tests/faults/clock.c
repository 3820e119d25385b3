/* A clock that can be set: the time of day as a process sees it, so many seconds off.
 *
 *     gcc -shared -fPIC -O2 clock.c -o clock.so
 *     LD_PRELOAD=clock.so CLOCK_OFFSET=file mongod ...
 *
 * The file holds the seconds, 8 bytes, and may change while the process runs. Clocks that nobody
 * can set stay as they are. Waits until a time of day are translated for the kernel.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TIME_OF_DAY 1000000000 /* seconds; a monotonic clock shows less */

static volatile int64_t *offset;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("CLOCK_OFFSET");
  int handle = file ? open(file, O_RDONLY) : -1;
  if (handle < 0) return;
  void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, handle, 0);
  if (page != MAP_FAILED) offset = page;
  close(handle);
}

static int64_t ahead(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t id, struct timespec *t) {
  int result = syscall(SYS_clock_gettime, id, t);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval *t, void *zone) {
  int result = syscall(SYS_gettimeofday, t, zone);
  if (result == 0) t->tv_sec += ahead();
  return result;
}

time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}

static struct timespec real(const struct timespec *t) {
  struct timespec until = *t;
  if (until.tv_sec > TIME_OF_DAY) until.tv_sec -= ahead();
  return until;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
  static int (*original)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!original) { /* by default the oldest one is found, of another layout */
    original = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!original) original = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  }
  struct timespec until = real(t);
  return original(c, m, &until);
}

int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t id,
                           const struct timespec *t) {
  static int (*original)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
  if (!original) original = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  struct timespec until = real(t);
  return original(c, m, id, &until);
}
