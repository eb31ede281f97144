// OpenSSL 3's EVP interface and its random numbers, for Swift, and the state of a TLS connection that libcurl hides.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Prepares a MAC context for HMAC-SHA256 under a key; 1 after success. Written in C, because OSSL_PARAM stores the
// address of the digest's name: from Swift, it would be that of a temporary copy.
static inline int sb_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t length) {
  const OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_init(context, key, length, parameters);
}

// Swift does not know the type SSL: libcurl hands it out as a plain pointer.
static inline int sb_ssl_pending(void *ssl) { return SSL_pending((SSL *)ssl); }

static inline int sb_ssl_speaks_http2(void *ssl) {
  const unsigned char *name = 0;
  unsigned int length = 0;
  SSL_get0_alpn_selected((SSL *)ssl, &name, &length);
  return length == 2 && name[0] == 'h' && name[1] == '2';
}

// Fails a chain whose server certificate has no DNS name and no IP address as a subject alternative name.
static inline int sb_ssl_verify_names(int is_valid, X509_STORE_CTX *store) {
  if (!is_valid || X509_STORE_CTX_get_error_depth(store) != 0) return is_valid;
  GENERAL_NAMES *names = X509_get_ext_d2i(X509_STORE_CTX_get_current_cert(store), NID_subject_alt_name, 0, 0);
  int is_named = 0;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++) {
    int type = sk_GENERAL_NAME_value(names, i)->type;
    if (type == GEN_DNS || type == GEN_IPADD) is_named = 1;
  }
  GENERAL_NAMES_free(names);
  if (!is_named) X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
  return is_named;
}

// Makes a context (SSL_CTX) reject certificates that name their host in the subject only (RFC 9525, 2).
// X509_CHECK_FLAG_NEVER_CHECK_SUBJECT does not help: libcurl compares names itself (Curl_ossl_verifyhost) and falls
// back to the common name when there is neither a DNS name nor an IP address.
static inline void sb_ssl_require_alternative_names(void *context) {
  SSL_CTX_set_verify((SSL_CTX *)context, SSL_VERIFY_PEER, sb_ssl_verify_names);
}

#endif
