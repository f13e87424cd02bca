import { AnswerReader, shownText } from './answers.js';
import { decodeBase64URL } from './base64url.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';

/**
 * End-to-end encrypted payloads: `{"e2e":1,"keys":{"DEVICE":{"enc","ct"}},"iv","ct"}`.
 *
 * The content is encrypted by AES-256-GCM. Its key is sealed for each device by HPKE (RFC 9180): mode base,
 * DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, info `securepush-e2e-v1`. The additional data is the user's
 * name, both times.
 */

const encoder = new TextEncoder();
const info = encoder.encode('securepush-e2e-v1');
/** RFC 9180, 4.1 and 5.1: the identifiers of the KEM and of the whole suite. */
const kemSuite = new Uint8Array([...encoder.encode('KEM'), 0x00, 0x20]);
const hpkeSuite = new Uint8Array([...encoder.encode('HPKE'), 0x00, 0x20, 0x00, 0x01, 0x00, 0x01]);

/**
 * Opens a payload, if it is encrypted.
 *
 * @param {string} payload the JSON text of the payload
 * @param {{recipient: string, device: string | null, key: import('./device-key.js').DeviceKey | null, crypto?: Crypto}}
 *   receiver the user, the installation's ID and its key
 * @returns {Promise<{json: string, text: string, isEncrypted: boolean}>} the content's JSON text, and what is shown
 *   of it
 * @throws {SecurePushFailure} `SP-KEY` if it is not for this device, `SP-DECRYPT` if it does not open
 */
export async function openEnvelope(payload, { recipient, device, key, crypto = globalThis.crypto }) {
  const members = envelopeMembers(payload);
  if (!members) return { json: payload, text: shownText(payload), isEncrypted: false };
  const { iv, ct, keys } = readEnvelope(members);
  const sealed = device !== null && Object.hasOwn(keys, device) ? keys[device] : undefined;
  if (sealed === undefined || !key) throw new SecurePushFailure(DiagnosticCode.noKey);
  const enc = decodeBase64URL(sealed?.enc);
  const sealedKey = decodeBase64URL(sealed?.ct);
  if (enc?.length !== 32 || sealedKey?.length !== 48) throw new SecurePushFailure(DiagnosticCode.undecryptable);
  try {
    const aad = encoder.encode(recipient);
    const contentKey = await openHPKE(crypto.subtle, key, enc, sealedKey, aad);
    const content = await decrypt(crypto.subtle, contentKey, iv, ct, aad);
    const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    JSON.parse(json);
    return { json, text: shownText(json.trim()), isEncrypted: true };
  } catch {
    throw new SecurePushFailure(DiagnosticCode.undecryptable);
  }
}

/**
 * Whether a payload is encrypted.
 *
 * @param {string} payload the JSON text of the payload
 * @returns {boolean}
 */
export const isEnvelope = (payload) => envelopeMembers(payload) !== null;

/**
 * The members of an encrypted payload; `null` if it is none. A JSON object with `e2e` and `ct` is one.
 *
 * @param {string} payload
 * @returns {Map<string, string> | null}
 */
function envelopeMembers(payload) {
  if (payload[0] !== '{' || !payload.includes('"e2e"')) return null;
  try {
    const members = AnswerReader.members(payload);
    return members.has('e2e') && members.has('ct') ? members : null;
  } catch {
    return null;
  }
}

/**
 * @param {Map<string, string>} members
 * @returns {{iv: Uint8Array, ct: Uint8Array, keys: Record<string, any>}}
 */
function readEnvelope(members) {
  const value = (/** @type {string} */ name) => JSON.parse(members.get(name) ?? 'null');
  const iv = decodeBase64URL(value('iv'));
  const ct = decodeBase64URL(value('ct'));
  const keys = value('keys');
  const areKeys = typeof keys === 'object' && keys !== null && !Array.isArray(keys)
    && Object.values(keys).every((entry) => typeof entry?.enc === 'string' && typeof entry.ct === 'string');
  if (value('e2e') !== 1 || iv?.length !== 12 || !ct || ct.length < 16 || !areKeys) {
    throw new SecurePushFailure(DiagnosticCode.undecryptable);
  }
  return { iv, ct, keys };
}

/**
 * HPKE, mode base, single shot (RFC 9180, 6.1).
 *
 * @param {SubtleCrypto} subtle
 * @param {import('./device-key.js').DeviceKey} key
 * @param {Uint8Array} enc
 * @param {Uint8Array} ciphertext
 * @param {Uint8Array} aad
 * @returns {Promise<Uint8Array>}
 */
async function openHPKE(subtle, key, enc, ciphertext, aad) {
  // Decap (4.1)
  const publicKey = await subtle.importKey('raw', enc, { name: 'X25519' }, false, []);
  const dh = await subtle.deriveBits({ name: 'X25519', public: publicKey }, key.privateKey, 256);
  const none = new Uint8Array();
  const own = /** @type {Uint8Array} */ (decodeBase64URL(key.x));
  const prk = await extract(subtle, none, kemSuite, 'eae_prk', new Uint8Array(dh));
  const shared = await expand(subtle, prk, kemSuite, 'shared_secret', join(enc, own), 32);
  // KeySchedule (5.1) of mode base, without a pre-shared key
  const context = join(
    new Uint8Array([0]), await extract(subtle, none, hpkeSuite, 'psk_id_hash', none),
    await extract(subtle, none, hpkeSuite, 'info_hash', info));
  const secret = await extract(subtle, shared, hpkeSuite, 'secret', none);
  const contentKey = await expand(subtle, secret, hpkeSuite, 'key', context, 16);
  const nonce = await expand(subtle, secret, hpkeSuite, 'base_nonce', context, 12);
  return decrypt(subtle, contentKey, nonce, ciphertext, aad);
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
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} secret
 * @param {Uint8Array} iv
 * @param {Uint8Array} ciphertext
 * @param {Uint8Array} additionalData
 */
async function decrypt(subtle, secret, iv, ciphertext, additionalData) {
  const key = await subtle.importKey('raw', secret, { name: 'AES-GCM' }, false, ['decrypt']);
  return new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv, additionalData, tagLength: 128 }, key, ciphertext));
}

/** @param {...Uint8Array} parts */
function join(...parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
