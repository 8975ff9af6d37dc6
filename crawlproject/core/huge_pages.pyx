# cython: language_level=3
"""Memory of the process in pages of 2 MB, on Linux with glibc; elsewhere nothing happens.

Python puts small objects into arenas of 1 MiB, each mapped separately, so no arena can be in such a page. This module cuts arenas
from regions that ask the kernel for such pages, and asks for them for the heap of malloc, too (transparent huge pages).
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
    enum { SUPPORTED = 1, ARENA = 1 << 20, HUGE_PAGE = 2 << 20, ARENAS = 32, REGIONS = 8192, KEPT = 32 };

    static PyObjectArenaAllocator before;
    static char *regions[REGIONS], *heap, *advised;  /* a region has ARENAS arenas */
    static int arena_count, spare_count, spare[REGIONS * ARENAS];
    static char has_no_memory[REGIONS * ARENAS];  /* of spare arenas: whether their memory was given back */

    static char *address_of(int arena) {
        return regions[arena / ARENAS] + (arena % ARENAS) * ARENA;
    }

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

    /* The memory that malloc has taken since the last call is below the end of the data segment. */
    static void advise_heap(void) {
        char *top = sbrk(0);
        if (top > advised) advise(advised, top, 0);
        advised = top;
    }

    static void *take_arena(void *context, size_t size) {
        if (size != ARENA) return before.alloc(before.ctx, size);
        advise_heap();
        if (spare_count) {
            int arena = spare[--spare_count];
            has_no_memory[arena] = 0;
            return address_of(arena);
        }
        if (arena_count % ARENAS == 0) {
            char *region;
            if (arena_count == REGIONS * ARENAS) return before.alloc(before.ctx, size);
            region = mmap(NULL, ARENAS * ARENA + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (region == MAP_FAILED) return before.alloc(before.ctx, size);
            regions[arena_count / ARENAS] = aligned(region);
            advise(aligned(region), aligned(region) + ARENAS * ARENA, 0);
        }
        return address_of(arena_count++);
    }

    static void give_arena(void *context, void *address, size_t size) {
        int region;
        for (region = 0; region * ARENAS < arena_count; region++) {
            size_t offset = (char *)address - regions[region];  /* wraps round if the address is below the region */
            if (offset < ARENAS * ARENA) {
                int arena = region * ARENAS + (int)(offset / ARENA);
                if (spare_count >= KEPT) {
                    madvise(address, size, MADV_DONTNEED);
                    has_no_memory[arena] = 1;
                }
                spare[spare_count++] = arena;
                return;
            }
        }
        before.free(before.ctx, address, size);
    }

    /* Except spare arenas without memory: that would be allocated again, filled with zeros. */
    static void collapse_all(void) {
        int from, to;
        for (from = 0; from < arena_count; from = to) {
            to = from + 1;
            if (has_no_memory[from]) continue;
            while (to < arena_count && to % ARENAS && !has_no_memory[to]) to++;
            advise(address_of(from), address_of(from) + (size_t)(to - from) * ARENA, 1);
        }
        if (heap) advise(heap, sbrk(0), 1);
    }

    static void begin(char *start_of_heap) {
        PyObjectArenaAllocator ours = {NULL, take_arena, give_arena};
        PyObject_GetArenaAllocator(&before);
        PyObject_SetArenaAllocator(&ours);
        /* malloc maps blocks of 4 MB or more separately, in small pages. All smaller ones are in the data segment. */
        mallopt(M_TOP_PAD, 64 << 20);
        mallopt(M_TRIM_THRESHOLD, 256 << 20);
        mallopt(M_MMAP_THRESHOLD, 4 << 20);
        heap = start_of_heap;
        advised = sbrk(0);
    }
    #else
    enum { SUPPORTED = 0 };
    static void advise(char *from, char *to, int now) {}
    static void collapse_all(void) {}
    static void begin(char *start_of_heap) {}
    #endif
    """
    const int SUPPORTED
    void advise(char *start, char *end, int now)
    void collapse_all()
    void begin(char *start_of_heap)

_began = False


def use() -> None:
    """Use such pages from now on. Linux 6.1 or later also copies the present memory into them. Call it once per process."""
    global _began
    cdef char *heap = NULL
    if not SUPPORTED or _began:
        return
    _began = True
    with open("/proc/self/maps", encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, rights, *_, name = [*line.split(None, 5), ""][:6]
        if rights == "rw-p" and name in ("", "[heap]"):
            low, high = (int(address, 16) for address in span.split("-"))
            advise(<char*><size_t>low, <char*><size_t>high, 1)
            if name:
                heap = <char*><size_t>low
    begin(heap)


def collapse() -> None:
    """Rebuild the pages of 2 MB that a fork has split into small ones. Linux does so by itself, but too slowly.

    While the child lives, each page to which this process writes is split and copied. 180 MB take 30 ms.
    """
    if _began:
        collapse_all()
