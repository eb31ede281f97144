// libzstd for Swift, unchanged.
#include <zstd.h>
