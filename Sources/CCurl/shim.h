// libcurl for Swift. Swift cannot call C functions with variable arguments, so this header adds one
// wrapper for each type of argument that curl_easy_setopt and similar functions take.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
// The gateway waits for libcurl's sockets with these. Swift's module of the C library leaves both out.
#include <sys/epoll.h>
#include <sys/eventfd.h>

static inline CURLcode sb_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sb_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sb_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sb_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sb_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sb_curl_set_write_callback(CURL *handle, curl_write_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

static inline CURLcode sb_curl_set_header_callback(CURL *handle, curl_write_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_HEADERDATA, context) : code;
}

static inline CURLcode sb_curl_set_socket_callback(CURL *handle, curl_opensocket_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context) : code;
}

static inline CURLcode sb_curl_set_ready_callback(CURL *handle, curl_prereq_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_PREREQDATA, context) : code;
}

// Also makes libcurl report to the callback instead of standard error.
static inline CURLcode sb_curl_set_debug_callback(CURL *handle, curl_debug_callback callback, void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
  return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L) : code;
}

static inline CURLcode sb_curl_set_tls_callback(CURL *handle, curl_ssl_ctx_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}

static inline CURLcode sb_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sb_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sb_curl_get_string(CURL *handle, CURLINFO info, const char **value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sb_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

// OpenSSL's SSL object of the connection that is in use; null without TLS.
static inline void *sb_curl_get_ssl(CURL *handle) {
  struct curl_tlssessioninfo *session = 0;
  CURLcode code = curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session);
  return code == CURLE_OK && session && session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : 0;
}

// libcurl calls this function deprecated, because it examines every transfer.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline CURLMcode sb_curl_multi_socket_all(CURLM *handle, int *active) {
  return curl_multi_socket_all(handle, active);
}
#pragma GCC diagnostic pop

static inline CURLMcode sb_curl_multi_set_long(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}

static inline CURLMcode sb_curl_multi_set_socket_callback(CURLM *handle, curl_socket_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, callback);
  return code == CURLM_OK ? curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, context) : code;
}

static inline CURLMcode sb_curl_multi_set_timer_callback(CURLM *handle, curl_multi_timer_callback callback, void *context) {
  CURLMcode code = curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, callback);
  return code == CURLM_OK ? curl_multi_setopt(handle, CURLMOPT_TIMERDATA, context) : code;
}

// The result of a finished transfer is in a union, which Swift imports as an opaque member.
static inline CURLcode sb_curl_message_result(const CURLMsg *message) { return message->data.result; }

#endif
