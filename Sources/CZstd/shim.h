// libzstd for Swift, unchanged.
#include <zstd.h>
#include <zstd_errors.h>
