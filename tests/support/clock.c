/* A clock the tests hold: preloaded into redis-server, it answers wall-clock questions from a shared file. What the
 * server sleeps passes on that clock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *held_us;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("MOONKEEP_CLOCK_FILE");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *held_us, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) held_us = page;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    if (!held_us) {
        struct timespec real;
        clock_gettime(CLOCK_REALTIME, &real);
        now->tv_sec = real.tv_sec;
        now->tv_usec = real.tv_nsec / 1000;
        return 0;
    }
    int64_t us = *held_us;
    now->tv_sec = us / 1000000;
    now->tv_usec = us % 1000000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timeval now;
    gettimeofday(&now, NULL);
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    if (held_us) *held_us += (int64_t)wanted->tv_sec * 1000000 + wanted->tv_nsec / 1000;
    return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}
