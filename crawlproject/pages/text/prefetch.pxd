"""Tells the processor which memory will be read soon."""

cdef extern from *:
    """
    #ifdef __GNUC__
    #define fetch(place) __builtin_prefetch(place)
    #else
    #define fetch(place) ((void)(place))
    #endif
    """
    void fetch(const void* place) noexcept
