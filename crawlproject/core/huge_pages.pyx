# cython: language_level=3
"""Memory of the process in pages of 2 MB, on Linux with glibc; elsewhere nothing happens.

Python's small objects are in arenas of 1 MiB, each mapped by itself, so none can have such a page. Here arenas are cut from
regions that ask for such pages, and what malloc takes asks for them as well (transparent huge pages).
"""

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #if defined(__linux__) && defined(__GLIBC__)
    #include <malloc.h>
    #include <sys/mman.h>
    #include <unistd.h>
    #ifndef MADV_COLLAPSE
    #define MADV_COLLAPSE 25  /* of Linux 6.1 */
    #endif
    enum { SUPPORTED = 1, ARENA = 1 << 20, HUGE_PAGE = 2 << 20, REGION = 32 << 20, MOST = 8192, KEPT = 32 };

    static PyObjectArenaAllocator before;
    static char *regions[MOST], *cursor, *end, *advised;
    static void *spare[MOST];
    static int region_count, spare_count;

    static char *aligned(void *address) {
        return (char *)(((uintptr_t)address + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    }

    static void advise(char *from, char *to, int now) {
        from = aligned(from);
        to = (char *)((uintptr_t)to & ~(uintptr_t)(HUGE_PAGE - 1));
        if (from < to) {
            madvise(from, to - from, MADV_HUGEPAGE);
            if (now) madvise(from, to - from, MADV_COLLAPSE);
        }
    }

    /* What malloc has taken since is below the end of the data segment. */
    static void advise_heap(void) {
        char *top = sbrk(0);
        if (top > advised) advise(advised, top, 0);
        advised = top;
    }

    static void *take_arena(void *context, size_t size) {
        if (size != ARENA) return before.alloc(before.ctx, size);
        advise_heap();
        if (spare_count) return spare[--spare_count];
        if (cursor == end) {
            char *region;
            if (region_count == MOST) return before.alloc(before.ctx, size);
            region = mmap(NULL, REGION + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (region == MAP_FAILED) return before.alloc(before.ctx, size);
            cursor = regions[region_count++] = aligned(region);
            end = cursor + REGION;
            madvise(cursor, REGION, MADV_HUGEPAGE);
        }
        cursor += ARENA;
        return cursor - ARENA;
    }

    static void give_arena(void *context, void *arena, size_t size) {
        int number;
        for (number = region_count; number--;)
            if (regions[number] <= (char *)arena && (char *)arena < regions[number] + REGION) {
                if (spare_count >= KEPT) madvise(arena, size, MADV_DONTNEED);
                if (spare_count < MOST) spare[spare_count++] = arena;
                return;
            }
        before.free(before.ctx, arena, size);
    }

    static void begin(void) {
        PyObjectArenaAllocator ours = {NULL, take_arena, give_arena};
        PyObject_GetArenaAllocator(&before);
        PyObject_SetArenaAllocator(&ours);
        /* malloc maps blocks from 4 MB on by themselves, and these have small pages; all others are in the data segment. */
        mallopt(M_TOP_PAD, 64 << 20);
        mallopt(M_TRIM_THRESHOLD, 256 << 20);
        mallopt(M_MMAP_THRESHOLD, 4 << 20);
        advised = sbrk(0);
    }
    #else
    enum { SUPPORTED = 0 };
    static void advise(char *from, char *to, int now) {}
    static void begin(void) {}
    #endif
    """
    const int SUPPORTED
    void advise(char *start, char *end, int now)
    void begin()

_began = False


def use() -> None:
    """From now on; what the process has by now is copied into such pages, where Linux can do that (6.1). Once for a process."""
    global _began
    if not SUPPORTED or _began:
        return
    _began = True
    with open("/proc/self/maps", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, rights, *_, name = [*line.split(None, 5), ""][:6]
        if rights == "rw-p" and name in ("", "[heap]"):
            low, _, high = span.partition("-")
            advise(<char*><size_t>int(low, 16), <char*><size_t>int(high, 16), 1)
    begin()
