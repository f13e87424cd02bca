import { encodeBase64URL } from './base64url.js';
import { pointOf, thumbprint } from './p256.js';
import { membersOf, readStrictJSON, textOf } from './strict-json.js';

const maxKeySetBytes = 64 * 1024;
/** The server's limit, so no legal set is cut off. The rest is skipped. */
const maxKeys = 32;

/**
 * A public key of a JWK Set.
 *
 * @typedef {object} PublicKey
 * @property {Uint8Array} point
 * @property {string | null} kid `null`: its thumbprint names it
 */

/**
 * The P-256 keys of a JWK Set (RFC 7517, RFC 7518). Keys of other kinds are skipped. Nobody may publish a private key, so
 * a set with one is not trusted.
 *
 * @param {unknown} value the set, or its JSON text
 * @returns {PublicKey[]}
 * @throws {TypeError} if it is not strict JSON, has no such key, or has a private key
 */
export function readKeySet(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  if (text.length > maxKeySetBytes) throw new TypeError('The JWK Set is too long.');
  let list;
  try {
    list = membersOf(readStrictJSON(text))?.get('keys');
  } catch {
    throw new TypeError('The JWK Set is not JSON.');
  }
  const entries = list?.kind === 'array' ? list.elements.map(membersOf) : [];
  // Only private and symmetric keys have these members (RFC 7518, section 6).
  if (entries.some((entry) => entry?.has('d') || entry?.has('k'))) throw new TypeError('The JWK Set has a private key.');
  const keys = entries.flatMap((entry) => (entry && readKey(entry)) ?? []);
  if (keys.length === 0) throw new TypeError('The JWK Set has no P-256 key.');
  return keys.slice(0, maxKeys);
}

/**
 * @param {Map<string, import('./strict-json.js').JSONValue>} entry
 * @returns {PublicKey | null}
 */
function readKey(entry) {
  const value = (/** @type {string} */ name) => textOf(entry.get(name));
  if (value('kty') !== 'EC' || value('crv') !== 'P-256') return null;
  const point = pointOf(value('x'), value('y'));
  const kid = value('kid');
  const length = new TextEncoder().encode(kid ?? '').length;
  const isNamed = !entry.has('kid') || (kid !== null && length >= 1 && length <= 128);
  return point && isNamed ? { point, kid } : null;
}

/** The public keys of senders: a device takes encrypted notifications of these senders only. */
export class SenderKeySet {
  /** @param {readonly PublicKey[]} keys */
  constructor(keys) {
    this.keys = Object.freeze([...keys]);
  }

  /**
   * Reads a JWK Set.
   *
   * @param {unknown} value the set, or its JSON text
   * @returns {SenderKeySet}
   * @throws {TypeError} if it has no P-256 key, or a private key
   */
  static fromJWKSet(value) { return new SenderKeySet(readKeySet(value)); }

  /**
   * The keys of a name. A key without a `kid` is named by its thumbprint.
   *
   * @param {string} name
   * @param {Crypto} [crypto]
   * @returns {Promise<Uint8Array[]>}
   */
  async named(name, crypto = globalThis.crypto) {
    const names = await Promise.all(this.keys.map(async ({ point, kid }) => (
      kid ?? encodeBase64URL(await thumbprint(point, crypto)))));
    return this.keys.filter((_, index) => names[index] === name).map(({ point }) => point);
  }
}
