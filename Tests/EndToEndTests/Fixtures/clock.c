// The wall clock of a process that preloads this library: it stands at the time, in nanoseconds since 1970, that the
// file SIGNALBOX_TEST_CLOCK holds in its eight bytes. Without that file, it runs, SIGNALBOX_TEST_CLOCK_SHIFT seconds
// ahead. Other clocks run.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *moved;
static int64_t shift;

__attribute__((constructor)) static void open_clock(void) {
    const char *seconds = getenv("SIGNALBOX_TEST_CLOCK_SHIFT");
    if (seconds) shift = atoll(seconds);
    const char *path = getenv("SIGNALBOX_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) moved = page;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (!moved || !is_wall) {
        int result = (int)syscall(SYS_clock_gettime, clock, time);
        if (is_wall && result == 0) time->tv_sec += shift;
        return result;
    }
    int64_t now = *moved;
    time->tv_sec = now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}

// Dispatch and Foundation wait until a time of the wall clock.
static struct timespec systemTime(const struct timespec *time) {
    struct timespec end = *time;
    end.tv_sec -= shift;
    return end;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
    static int (*next)(sem_t *, const struct timespec *);
    if (!next) next = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec end = systemTime(time);
    return next(semaphore, &end);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!next)
        next = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(
            RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec end = systemTime(time);
    return next(condition, mutex, &end);
}
