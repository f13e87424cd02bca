/**
 * HPKE (RFC 9180) in mode base, single shot, for the recipient: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. All
 * primitives are of Web Crypto.
 */

const encoder = new TextEncoder();
/** RFC 9180, 4.1 and 5.1: the identifiers of the KEM and of the whole suite. */
const kemSuite = new Uint8Array([...encoder.encode('KEM'), 0x00, 0x10]);
const hpkeSuite = new Uint8Array([...encoder.encode('HPKE'), 0x00, 0x10, 0x00, 0x01, 0x00, 0x01]);

/**
 * Opens what was sealed for a key (6.1).
 *
 * @param {SubtleCrypto} subtle
 * @param {import('./device-key.js').DeviceKey} key
 * @param {{enc: Uint8Array, ct: Uint8Array}} sealed
 * @param {Uint8Array} info
 * @param {Uint8Array} aad
 * @returns {Promise<Uint8Array>}
 * @throws {DOMException} if it was sealed for another key, or changed
 */
export async function openHPKE(subtle, key, { enc, ct }, info, aad) {
  // Decap (4.1)
  const publicKey = await subtle.importKey('raw', enc, { name: 'ECDH', namedCurve: 'P-256' }, false, []);
  const dh = await subtle.deriveBits({ name: 'ECDH', public: publicKey }, key.privateKey, 256);
  const none = new Uint8Array();
  const prk = await extract(subtle, none, kemSuite, 'eae_prk', new Uint8Array(dh));
  const shared = await expand(subtle, prk, kemSuite, 'shared_secret', join(enc, key.point), 32);
  // KeySchedule (5.1) of mode base, without a pre-shared key
  const context = join(
    new Uint8Array([0]), await extract(subtle, none, hpkeSuite, 'psk_id_hash', none),
    await extract(subtle, none, hpkeSuite, 'info_hash', info));
  const secret = await extract(subtle, shared, hpkeSuite, 'secret', none);
  const contentKey = await expand(subtle, secret, hpkeSuite, 'key', context, 16);
  const nonce = await expand(subtle, secret, hpkeSuite, 'base_nonce', context, 12);
  return decrypt(subtle, contentKey, nonce, ct, aad);
}

/**
 * LabeledExtract (RFC 9180, 4).
 *
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} salt
 * @param {Uint8Array} suite
 * @param {string} label
 * @param {Uint8Array} input
 */
const extract = (subtle, salt, suite, label, input) => (
  hmac(subtle, salt, join(encoder.encode('HPKE-v1'), suite, encoder.encode(label), input)));

/**
 * LabeledExpand (RFC 9180, 4) of at most 32 bytes, which is one block of HKDF.
 *
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} prk
 * @param {Uint8Array} suite
 * @param {string} label
 * @param {Uint8Array} context
 * @param {number} length
 */
async function expand(subtle, prk, suite, label, context, length) {
  const text = join(
    new Uint8Array([length >> 8, length & 0xff]), encoder.encode('HPKE-v1'), suite, encoder.encode(label), context,
    new Uint8Array([1]));
  return (await hmac(subtle, prk, text)).subarray(0, length);
}

/**
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} secret
 * @param {Uint8Array} text
 */
async function hmac(subtle, secret, text) {
  // An empty key is the same as one of zeros (RFC 5869, 2.2), and Web Crypto takes no empty one.
  const bytes = secret.length > 0 ? secret : new Uint8Array(32);
  const key = await subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', key, text));
}

/**
 * Decrypts by AES-GCM. The ciphertext ends with the tag of 16 bytes.
 *
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} secret
 * @param {Uint8Array} iv
 * @param {Uint8Array} ciphertext
 * @param {Uint8Array} additionalData
 */
export async function decrypt(subtle, secret, iv, ciphertext, additionalData) {
  const key = await subtle.importKey('raw', secret, { name: 'AES-GCM' }, false, ['decrypt']);
  return new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv, additionalData, tagLength: 128 }, key, ciphertext));
}

/** @param {...Uint8Array} parts */
export function join(...parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
