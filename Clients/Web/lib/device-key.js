import { decodeBase64URL, encodeBase64URL } from './base64url.js';
import { isPoint, jwkOf, thumbprint } from './p256.js';
import { hexadecimal } from './user-tag.js';

/** A device makes a new key at this age of the last one, in seconds. */
export const secondsPerKey = 30 * 86_400;
/** How long a key opens what was sealed for it after another one has taken its place, in seconds. */
const secondsKept = 90 * 86_400;

/**
 * A key of the device for end-to-end encryption: P-256. The private key is not extractable, so no script can read it, and
 * it cannot be copied to another device.
 */
export class DeviceKey {
  /**
   * @param {CryptoKey} privateKey for `deriveBits`
   * @param {Uint8Array} point the public key
   * @param {number} madeAt in seconds since 1970
   * @param {number | null} [replacedAt] when another key has taken its place
   */
  constructor(privateKey, point, madeAt, replacedAt = null) {
    this.privateKey = privateKey;
    this.point = point;
    this.madeAt = madeAt;
    this.replacedAt = replacedAt;
  }

  /**
   * Makes a key.
   *
   * @param {number} now in seconds since 1970
   * @param {Crypto} [crypto]
   * @returns {Promise<DeviceKey>}
   */
  static async generate(now, crypto = globalThis.crypto) {
    const pair = /** @type {CryptoKeyPair} */ (
      await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits']));
    return new DeviceKey(pair.privateKey, new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)), now);
  }

  /**
   * @param {any} value what a store has kept
   * @returns {DeviceKey[]} newest first
   */
  static fromStored(value) {
    return (Array.isArray(value) ? value : []).flatMap(({ privateKey, point, madeAt, replacedAt }) => {
      const bytes = decodeBase64URL(point);
      return privateKey?.type === 'private' && isPoint(bytes) ? new DeviceKey(privateKey, bytes, madeAt, replacedAt) : [];
    });
  }

  /** What a store keeps. */
  get stored() {
    const { privateKey, point, madeAt, replacedAt } = this;
    return { privateKey, point: encodeBase64URL(point), madeAt, replacedAt };
  }

  /** The public key, as the server takes it. */
  get jwk() { return jwkOf(this.point); }

  /**
   * Whether it is time for another key. A clock that went back tells nothing of the age.
   *
   * @param {number} now
   */
  isOld(now) { return now - this.madeAt >= secondsPerKey; }

  /**
   * The fingerprint: the first 16 bytes of the thumbprint (RFC 7638) as 8 groups of 4 hexadecimal digits.
   *
   * @param {Crypto} [crypto]
   * @returns {Promise<string>}
   */
  async fingerprint(crypto = globalThis.crypto) {
    const digest = (await thumbprint(this.point, crypto)).subarray(0, 16);
    const digits = Array.from(digest, hexadecimal).join('');
    return digits.replace(/.{4}(?!$)/g, '$& ');
  }
}

/**
 * Adds a new key in front, and drops those that senders no longer use.
 *
 * @param {DeviceKey[]} keys newest first
 * @param {DeviceKey} key
 * @returns {DeviceKey[]}
 */
export function withNewKey(keys, key) {
  const { madeAt: now } = key;
  const former = keys
    .map(({ privateKey, point, madeAt, replacedAt }) => new DeviceKey(privateKey, point, madeAt, replacedAt ?? now))
    .filter(({ replacedAt }) => now - (replacedAt ?? now) <= secondsKept);
  return [key, ...former];
}
