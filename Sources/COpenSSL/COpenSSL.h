#ifndef PUSHGATEWAY_COPENSSL_H
#define PUSHGATEWAY_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
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

static inline unsigned long long COpenSSL_set_options(SSL_CTX *ctx) {
  return SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline int COpenSSL_set_groups(SSL_CTX *ctx, const char *list) {
  return (int)SSL_CTX_set1_groups_list(ctx, list);
}

static inline int COpenSSL_set_client_sigalgs(SSL_CTX *ctx, const char *list) {
  return (int)SSL_CTX_set1_client_sigalgs_list(ctx, list);
}

// The number of bits of the public exponent of a certificate's RSA key; 0 for other keys. Leaves no error in the queue.
static inline int COpenSSL_exponent_bits(X509 *certificate) {
  BIGNUM *exponent = NULL;
  int bits = 0;
  ERR_set_mark();
  EVP_PKEY *key = certificate ? X509_get0_pubkey(certificate) : NULL;
  int kind = key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE;
  if ((kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS) && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1) {
    bits = BN_num_bits(exponent);
    BN_free(exponent);
  }
  ERR_pop_to_mark();
  return bits;
}

static inline long COpenSSL_set_max_cert_list(SSL_CTX *ctx, long size) {
  return SSL_CTX_set_max_cert_list(ctx, size);
}

static inline int COpenSSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int COpenSSL_use_hmac_sha256(EVP_MAC_CTX *mac, const unsigned char *key, size_t size) {
  OSSL_PARAM params[] = {
    OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, size),
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, params);
}

static inline long COpenSSL_bio_get_mem_data(BIO *bio, char **data) {
  return BIO_get_mem_data(bio, data);
}

static inline EVP_PKEY *COpenSSL_generate_p256(void) {
  return EVP_EC_gen("P-256");
}

#endif
