// OpenSSL 3's EVP interface and its random numbers, for Swift, and what libcurl does not say of a TLS connection.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

// Swift does not know the type SSL: libcurl hands it out as a plain pointer.
static inline int sb_ssl_pending(void *ssl) { return SSL_pending((SSL *)ssl); }

static inline int sb_ssl_speaks_http2(void *ssl) {
  const unsigned char *name = 0;
  unsigned int length = 0;
  SSL_get0_alpn_selected((SSL *)ssl, &name, &length);
  return length == 2 && name[0] == 'h' && name[1] == '2';
}

#endif
