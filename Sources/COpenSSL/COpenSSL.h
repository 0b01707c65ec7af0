#ifndef PUSHGATEWAY_COPENSSL_H
#define PUSHGATEWAY_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros that Swift cannot see, as functions.

static inline int COpenSSL_set_min_proto_version(SSL_CTX *ctx, int version) {
  return (int)SSL_CTX_set_min_proto_version(ctx, version);
}

static inline long COpenSSL_set_mode(SSL_CTX *ctx, long mode) {
  return SSL_CTX_set_mode(ctx, mode);
}

static inline int COpenSSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline long COpenSSL_bio_get_mem_data(BIO *bio, char **data) {
  return BIO_get_mem_data(bio, data);
}

static inline EVP_PKEY *COpenSSL_generate_p256(void) {
  return EVP_EC_gen("P-256");
}

#endif
