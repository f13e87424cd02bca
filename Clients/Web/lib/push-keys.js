import { decodeBase64URL, encodeBase64URL } from './base64url.js';
import { DiagnosticCode } from './codes.js';
import { readKeySet } from './key-set.js';
import { isSigned } from './p256.js';

/** A later time of signing is no clock that is behind, in seconds. */
const maxAhead = 86_400;

/**
 * The public keys that verify pushes: the P-256 keys of a JWK Set (RFC 7517), as `securepush keys generate --push` writes
 * it and `GET /api/push-keys` returns it.
 */
export class PushKeySet {
  /** @param {readonly string[]} keys the points in base64url */
  constructor(keys) {
    /** @type {readonly string[]} */
    this.keys = Object.freeze([...keys]);
  }

  /**
   * Reads a JWK Set. Keys of other kinds are skipped. Nobody may publish a private key, so a set with one is not
   * trusted.
   *
   * @param {unknown} value the set, or its JSON text
   * @returns {PushKeySet}
   * @throws {TypeError} if it has no P-256 key, or a private key
   */
  static fromJWKSet(value) { return new PushKeySet(readKeySet(value).map(({ point }) => encodeBase64URL(point))); }
}

/** Checks that a push comes from the server: an ES256 signature over the ID, the user and the time. */
export class PushVerifier {
  /**
   * @param {PushKeySet} keys
   * @param {number} maxAge the oldest signature, in seconds
   * @param {Crypto} [crypto]
   */
  constructor(keys, maxAge, crypto = globalThis.crypto) {
    this.keys = keys;
    this.maxAge = maxAge;
    this.crypto = crypto;
  }

  /**
   * Checks a push.
   *
   * @param {import('./push.js').IncomingPush} push
   * @param {string} userName the user of the device
   * @param {number} now seconds since 1970
   * @returns {Promise<string | null>} `null` if the push is genuine; otherwise the reason to ignore it
   */
  async fault(push, userName, now) {
    const { id, timestamp } = push;
    const signature = signatureOf(push);
    if (!id || !timestamp || !signature) return DiagnosticCode.badSignature;
    const text = PushVerifier.signedText(id, userName, timestamp, push.isWithdrawal);
    for (const key of this.keys.keys) {
      const point = decodeBase64URL(key);
      if (point && await isSigned(this.crypto, point, signature, text)) {
        return this.#isInTime(timestamp, now) ? null : DiagnosticCode.tooOld;
      }
    }
    return DiagnosticCode.badSignature;
  }

  /**
   * Whether another key might verify a push: its time and its signature have the right forms, and the time is right.
   *
   * @param {import('./push.js').IncomingPush} push
   * @param {number} now seconds since 1970
   */
  mayHaveOtherKey(push, now) {
    return push.id !== null && signatureOf(push) !== null && this.#isInTime(push.timestamp, now);
  }

  /**
   * @param {string | null} timestamp
   * @param {number} now
   */
  #isInTime(timestamp, now) {
    const age = now - Number(timestamp);
    return age <= this.maxAge && age >= -maxAhead;
  }

  /**
   * The text that the server signs.
   *
   * @param {string} id
   * @param {string} userName
   * @param {string} timestamp
   * @param {boolean} isWithdrawal
   * @returns {string}
   */
  static signedText(id, userName, timestamp, isWithdrawal) {
    return `securepush-push-v1\n${id}\n${userName}\n${timestamp}\n${isWithdrawal ? 'withdraw\n' : ''}`;
  }
}

/**
 * @param {import('./push.js').IncomingPush} push
 * @returns {Uint8Array | null} `null` unless the time and the signature have their forms
 */
function signatureOf({ timestamp, signature }) {
  const bytes = decodeBase64URL(signature, 128);
  return timestamp !== null && /^(0|[1-9][0-9]{0,11})$/.test(timestamp) && bytes?.length === 64 ? bytes : null;
}
