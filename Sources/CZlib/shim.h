// zlib for Swift. inflateInit2 and deflateInit2 are macros, which Swift does not see.
#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

static inline int sb_inflate_init(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }

// 15 is the largest window, and 16 is added for gzip's header. 8 is the default memory level.
static inline int sb_gzip_init(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
