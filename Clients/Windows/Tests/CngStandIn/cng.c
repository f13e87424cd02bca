/* A stand-in for the functions of bcrypt.dll and ncrypt.dll that SecurePush.Client calls, on OpenSSL, with the
 * documented signatures, constants and forms (learn.microsoft.com, "Cryptography API: Next Generation"). So the calls
 * of the SDK run without Windows. It is as strict as it can be: lengths, names and flags are checked. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdh.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    OK = 0,
    INVALID_PARAMETER = (int)0xC000000D, /* STATUS_INVALID_PARAMETER */
    INVALID_SIGNATURE = (int)0xC000A000, /* STATUS_INVALID_SIGNATURE */
    TAG_MISMATCH = (int)0xC000A002,      /* STATUS_AUTH_TAG_MISMATCH */
    NOT_SUPPORTED = (int)0x80090029,     /* NTE_NOT_SUPPORTED */
    NOT_FOUND = (int)0x80090011,         /* NTE_NOT_FOUND */
    BAD_KEYSET = (int)0x80090016,        /* NTE_BAD_KEYSET */
    DEVICE_NOT_READY = (int)0x80090030,  /* NTE_DEVICE_NOT_READY */
};

enum { EXCHANGE_PUBLIC = 0x314B4345, EXCHANGE_PRIVATE = 0x324B4345, SIGNATURE_PUBLIC = 0x31534345 };
enum kind { EXCHANGE, SIGNATURE, AES, PROVIDER, KEY, SECRET };

struct object {
    enum kind kind;
    int is_gcm, is_final, is_persisted;
    EC_KEY *key;
    uint8_t bytes[32];
    int length;
    char name[64];
};

/* BCRYPT_AUTHENTICATED_CIPHER_MODE_INFO */
struct mode {
    uint32_t size, version;
    uint8_t *nonce;
    uint32_t nonce_size;
    uint8_t *data;
    uint32_t data_size;
    uint8_t *tag;
    uint32_t tag_size;
    uint8_t *mac;
    uint32_t mac_size, data_length;
    uint64_t text_length;
    uint32_t flags;
};

static struct object *stored[16];
static int tpm, alive;

/* 0: no TPM, 1: one that works, 2: one that gives wrong secrets. */
void CngStandInSetTpm(int mode) { tpm = mode; }

/* The objects that nobody has freed. */
int CngStandInAlive(void) { return alive; }

/* The keys in the TPM. */
int CngStandInStored(void) {
    int count = 0;
    for (int i = 0; i < 16; i++) count += stored[i] != NULL;
    return count;
}

static int same(const uint16_t *wide, const char *text) {
    while (*text != 0 && *wide == (uint8_t)*text) wide++, text++;
    return *wide == (uint8_t)*text;
}

static struct object *make(enum kind kind) {
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    alive++;
    return object;
}

static int drop(struct object *object, int wanted) {
    if (object == NULL || (wanted >= 0 && (int)object->kind != wanted)) return INVALID_PARAMETER;
    EC_KEY_free(object->key);
    free(object);
    alive--;
    return OK;
}

static int32_t export(struct object *object, int is_private, uint8_t *out, uint32_t size, uint32_t *length) {
    const EC_GROUP *group = EC_KEY_get0_group(object->key);
    uint32_t head[2] = {is_private ? EXCHANGE_PRIVATE : EXCHANGE_PUBLIC, 32};
    uint8_t point[65];
    *length = 8 + 64 + (is_private ? 32 : 0);
    if (out == NULL || size < *length || !object->is_final) return INVALID_PARAMETER;
    EC_POINT_point2oct(group, EC_KEY_get0_public_key(object->key), POINT_CONVERSION_UNCOMPRESSED, point, 65, NULL);
    memcpy(out, head, 8);
    memcpy(out + 8, point + 1, 64);
    if (is_private) BN_bn2binpad(EC_KEY_get0_private_key(object->key), out + 72, 32);
    return OK;
}

static int32_t import(int is_private, uint32_t magic, struct object **key, const uint8_t *blob, uint32_t size) {
    uint32_t head[2];
    uint8_t octets[65] = {4};
    if (size != (is_private ? 104u : 72u)) return INVALID_PARAMETER;
    memcpy(head, blob, 8);
    memcpy(octets + 1, blob + 8, 64);
    if (head[0] != magic || head[1] != 32) return INVALID_PARAMETER;
    EC_KEY *imported = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *point = EC_POINT_new(EC_KEY_get0_group(imported));
    BIGNUM *number = is_private ? BN_bin2bn(blob + 72, 32, NULL) : NULL;
    int good = EC_POINT_oct2point(EC_KEY_get0_group(imported), point, octets, 65, NULL) == 1
        && EC_KEY_set_public_key(imported, point) == 1
        && (!is_private || EC_KEY_set_private_key(imported, number) == 1) && EC_KEY_check_key(imported) == 1;
    BN_free(number);
    EC_POINT_free(point);
    if (!good) {
        EC_KEY_free(imported);
        return INVALID_PARAMETER;
    }
    *key = make(KEY);
    (*key)->key = imported;
    (*key)->is_final = 1;
    return OK;
}

static int32_t agree(struct object *key, struct object *other, struct object **secret) {
    if (key->kind != KEY || other->kind != KEY || !key->is_final) return INVALID_PARAMETER;
    *secret = make(SECRET);
    const EC_POINT *point = EC_KEY_get0_public_key(other->key);
    return ECDH_compute_key((*secret)->bytes, 32, point, key->key, NULL) == 32 ? OK : INVALID_PARAMETER;
}

static int32_t derive(struct object *secret, const uint16_t *function, uint8_t *out, uint32_t size, uint32_t *length) {
    if (secret->kind != SECRET || !same(function, "TRUNCATE") || size < 32) return INVALID_PARAMETER;
    for (int i = 0; i < 32; i++) out[i] = secret->bytes[31 - i];
    *length = 32;
    return OK;
}

int32_t BCryptOpenAlgorithmProvider(
    struct object **algorithm, const uint16_t *name, const uint16_t *implementation, uint32_t flags) {
    int kind = same(name, "ECDH_P256") ? EXCHANGE : same(name, "ECDSA_P256") ? SIGNATURE : same(name, "AES") ? AES : -1;
    if (kind < 0 || implementation != NULL || flags != 0) return INVALID_PARAMETER;
    *algorithm = make(kind);
    return OK;
}

int32_t BCryptCloseAlgorithmProvider(struct object *algorithm, uint32_t flags) {
    return flags == 0 ? drop(algorithm, -1) : INVALID_PARAMETER;
}

int32_t BCryptSetProperty(
    struct object *object, const uint16_t *name, const uint16_t *value, uint32_t size, uint32_t flags) {
    if (object->kind != AES || flags != 0 || !same(name, "ChainingMode")) return INVALID_PARAMETER;
    if (!same(value, "ChainingModeGCM") || size != 32) return INVALID_PARAMETER;
    object->is_gcm = 1;
    return OK;
}

int32_t BCryptGenerateKeyPair(struct object *algorithm, struct object **key, uint32_t bits, uint32_t flags) {
    if (algorithm->kind != EXCHANGE || bits != 256 || flags != 0) return INVALID_PARAMETER;
    *key = make(KEY);
    (*key)->key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    return OK;
}

int32_t BCryptFinalizeKeyPair(struct object *key, uint32_t flags) {
    key->is_final = flags == 0 && key->kind == KEY && EC_KEY_generate_key(key->key) == 1;
    return key->is_final ? OK : INVALID_PARAMETER;
}

int32_t BCryptExportKey(
    struct object *key, void *export_key, const uint16_t *type, uint8_t *out, uint32_t size, uint32_t *length,
    uint32_t flags) {
    if (export_key != NULL || flags != 0 || !same(type, "ECCPRIVATEBLOB")) return INVALID_PARAMETER;
    return export(key, 1, out, size, length);
}

int32_t BCryptImportKeyPair(
    struct object *algorithm, void *import_key, const uint16_t *type, struct object **key, const uint8_t *blob,
    uint32_t size, uint32_t flags) {
    int is_private = same(type, "ECCPRIVATEBLOB");
    if (import_key != NULL || flags != 0 || (!is_private && !same(type, "ECCPUBLICBLOB"))) return INVALID_PARAMETER;
    uint32_t magic = algorithm->kind == SIGNATURE ? SIGNATURE_PUBLIC : is_private ? EXCHANGE_PRIVATE : EXCHANGE_PUBLIC;
    return import(is_private, magic, key, blob, size);
}

int32_t BCryptDestroyKey(struct object *key) { return drop(key, KEY); }

int32_t BCryptSecretAgreement(struct object *key, struct object *other, struct object **secret, uint32_t flags) {
    return flags == 0 ? agree(key, other, secret) : INVALID_PARAMETER;
}

int32_t BCryptDeriveKey(
    struct object *secret, const uint16_t *function, void *parameters, uint8_t *out, uint32_t size, uint32_t *length,
    uint32_t flags) {
    return parameters == NULL && flags == 0 ? derive(secret, function, out, size, length) : INVALID_PARAMETER;
}

int32_t BCryptDestroySecret(struct object *secret) { return drop(secret, SECRET); }

int32_t BCryptVerifySignature(
    struct object *key, void *padding, const uint8_t *digest, uint32_t digest_size, const uint8_t *signature,
    uint32_t signature_size, uint32_t flags) {
    if (key->kind != KEY || padding != NULL || digest_size != 32 || flags != 0) return INVALID_PARAMETER;
    if (signature_size != 64) return INVALID_SIGNATURE;
    ECDSA_SIG *both = ECDSA_SIG_new();
    ECDSA_SIG_set0(both, BN_bin2bn(signature, 32, NULL), BN_bin2bn(signature + 32, 32, NULL));
    int good = ECDSA_do_verify(digest, 32, both, key->key) == 1;
    ECDSA_SIG_free(both);
    return good ? OK : INVALID_SIGNATURE;
}

int32_t BCryptGenerateSymmetricKey(
    struct object *algorithm, struct object **key, uint8_t *memory, uint32_t memory_size, const uint8_t *secret,
    uint32_t size, uint32_t flags) {
    if (algorithm->kind != AES || !algorithm->is_gcm || memory != NULL || memory_size != 0 || flags != 0)
        return INVALID_PARAMETER;
    if (size != 16 && size != 32) return INVALID_PARAMETER;
    *key = make(KEY);
    memcpy((*key)->bytes, secret, size);
    (*key)->length = size;
    return OK;
}

int32_t BCryptDecrypt(
    struct object *key, const uint8_t *input, uint32_t size, struct mode *mode, uint8_t *iv, uint32_t iv_size,
    uint8_t *output, uint32_t output_size, uint32_t *length, uint32_t flags) {
    if (mode->size != sizeof *mode || mode->version != 1 || mode->nonce_size != 12 || mode->tag_size != 16)
        return INVALID_PARAMETER;
    if (iv != NULL || iv_size != 0 || output_size < size || flags != 0 || mode->flags != 0 || mode->mac_size != 0)
        return INVALID_PARAMETER;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int count = 0, good = 1;
    uint8_t rest[16];
    EVP_DecryptInit_ex(
        context, key->length == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), NULL, key->bytes, mode->nonce);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, mode->tag);
    if (mode->data_size > 0) good = EVP_DecryptUpdate(context, NULL, &count, mode->data, mode->data_size);
    if (size > 0) good = good == 1 && EVP_DecryptUpdate(context, output, &count, input, size);
    good = good == 1 && EVP_DecryptFinal_ex(context, rest, &count) == 1;
    EVP_CIPHER_CTX_free(context);
    *length = size;
    return good ? OK : TAG_MISMATCH;
}

static void narrow(const uint16_t *wide, char *text) {
    int i = 0;
    for (; wide[i] != 0 && i < 63; i++) text[i] = (char)wide[i];
    text[i] = 0;
}

int32_t NCryptOpenStorageProvider(struct object **provider, const uint16_t *name, uint32_t flags) {
    if (!same(name, "Microsoft Platform Crypto Provider") || flags != 0) return INVALID_PARAMETER;
    if (tpm == 0) return DEVICE_NOT_READY;
    *provider = make(PROVIDER);
    return OK;
}

int32_t NCryptCreatePersistedKey(
    struct object *provider, struct object **key, const uint16_t *algorithm, const uint16_t *name, uint32_t spec,
    uint32_t flags) {
    if (provider->kind != PROVIDER || spec != 0 || flags != 0) return INVALID_PARAMETER;
    if (!same(algorithm, "ECDH_P256")) return NOT_SUPPORTED;
    *key = make(KEY);
    (*key)->is_persisted = 1;
    (*key)->key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    narrow(name, (*key)->name);
    return OK;
}

int32_t NCryptFinalizeKey(struct object *key, uint32_t flags) {
    if (flags != 0x40 || EC_KEY_generate_key(key->key) != 1) return INVALID_PARAMETER;
    key->is_final = 1;
    for (int i = 0; i < 16; i++) {
        if (stored[i] != NULL) continue;
        stored[i] = calloc(1, sizeof *key);
        *stored[i] = *key;
        EC_KEY_up_ref(key->key);
        return OK;
    }
    return DEVICE_NOT_READY;
}

int32_t NCryptOpenKey(
    struct object *provider, struct object **key, const uint16_t *name, uint32_t spec, uint32_t flags) {
    char wanted[64];
    narrow(name, wanted);
    if (provider->kind != PROVIDER || spec != 0 || flags != 0x40) return INVALID_PARAMETER;
    for (int i = 0; i < 16; i++) {
        if (stored[i] == NULL || strcmp(stored[i]->name, wanted) != 0) continue;
        *key = make(KEY);
        **key = *stored[i];
        EC_KEY_up_ref((*key)->key);
        return OK;
    }
    return tpm == 1 ? BAD_KEYSET : NOT_FOUND;
}

int32_t NCryptExportKey(
    struct object *key, void *export_key, const uint16_t *type, void *parameters, uint8_t *out, uint32_t size,
    uint32_t *length, uint32_t flags) {
    if (export_key != NULL || parameters != NULL || flags != 0x40) return INVALID_PARAMETER;
    return same(type, "ECCPUBLICBLOB") ? export(key, 0, out, size, length) : NOT_SUPPORTED;
}

int32_t NCryptImportKey(
    struct object *provider, void *import_key, const uint16_t *type, void *parameters, struct object **key,
    const uint8_t *blob, uint32_t size, uint32_t flags) {
    if (provider->kind != PROVIDER || import_key != NULL || parameters != NULL || flags != 0) return INVALID_PARAMETER;
    return same(type, "ECCPUBLICBLOB") ? import(0, EXCHANGE_PUBLIC, key, blob, size) : NOT_SUPPORTED;
}

int32_t NCryptSecretAgreement(struct object *key, struct object *other, struct object **secret, uint32_t flags) {
    if (flags != 0 || !key->is_persisted) return INVALID_PARAMETER;
    int32_t result = agree(key, other, secret);
    if (tpm == 2) (*secret)->bytes[7] ^= 1;
    return result;
}

int32_t NCryptDeriveKey(
    struct object *secret, const uint16_t *function, void *parameters, uint8_t *out, uint32_t size, uint32_t *length,
    uint32_t flags) {
    return parameters == NULL && flags == 0 ? derive(secret, function, out, size, length) : INVALID_PARAMETER;
}

int32_t NCryptDeleteKey(struct object *key, uint32_t flags) {
    if (flags != 0x40) return INVALID_PARAMETER;
    for (int i = 0; i < 16; i++) {
        if (stored[i] == NULL || strcmp(stored[i]->name, key->name) != 0) continue;
        EC_KEY_free(stored[i]->key);
        free(stored[i]);
        stored[i] = NULL;
    }
    return drop(key, KEY);
}

int32_t NCryptFreeObject(struct object *object) { return drop(object, -1); }
