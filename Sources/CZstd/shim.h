// libzstd for Swift, as it is.
#include <zstd.h>
