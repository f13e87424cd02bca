import { DiagnosticCode } from './codes.js';
import { decodeBase64URL } from './base64url.js';

const maxKeySetBytes = 64 * 1024;
/** The server's limit, so no legal set is cut off. The rest is skipped. */
const maxKeys = 32;

/**
 * The public keys that verify pushes: the Ed25519 keys of a JWK Set (RFC 7517, RFC 8037), as
 * `securepush keys generate --push` writes it and `GET /api/push-keys` returns it.
 */
export class PushKeySet {
  /** @param {string[]} keys the keys' `x` */
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
   * @throws {TypeError} if it has no Ed25519 key, or a private key
   */
  static fromJWKSet(value) {
    let set = value;
    if (typeof set === 'string') {
      if (set.length > maxKeySetBytes) throw new TypeError('The JWK Set is too long.');
      try { set = JSON.parse(set); } catch { throw new TypeError('The JWK Set is not JSON.'); }
    }
    const { keys: list } = /** @type {{keys?: unknown}} */ (set ?? {});
    const entries = Array.isArray(list) ? list : [];
    // Only private and symmetric keys have these members (RFC 7518, section 6).
    if (entries.some((key) => key?.d !== undefined || key?.k !== undefined)) {
      throw new TypeError('The JWK Set has a private key.');
    }
    const keys = entries
      .filter((key) => key?.kty === 'OKP' && key.crv === 'Ed25519' && decodeBase64URL(key.x)?.length === 32)
      .map((key) => /** @type {string} */ (key.x));
    if (keys.length === 0) throw new TypeError('The JWK Set has no Ed25519 key.');
    return new PushKeySet(keys.slice(0, maxKeys));
  }
}

/** Checks that a push comes from the server: an Ed25519 signature over the ID, the user and the time. */
export class PushVerifier {
  /**
   * @param {PushKeySet} keys
   * @param {number} maxAge the oldest signature, in seconds
   * @param {Crypto} [crypto]
   */
  constructor(keys, maxAge, crypto = globalThis.crypto) {
    this.keys = keys;
    this.maxAge = maxAge;
    this.subtle = crypto.subtle;
  }

  /**
   * Checks a push. A browser without Ed25519 finds no push genuine.
   *
   * @param {import('./push.js').IncomingPush} push
   * @param {string} userName the user of the device
   * @param {number} now seconds since 1970
   * @returns {Promise<string | null>} `null` if the push is genuine; otherwise the reason to ignore it
   */
  async fault(push, userName, now) {
    const { id, timestamp } = push;
    const signature = decodeBase64URL(push.signature, 128);
    if (!id || !timestamp || !/^(0|[1-9][0-9]{0,11})$/.test(timestamp) || signature?.length !== 64) {
      return DiagnosticCode.badSignature;
    }
    const text = new TextEncoder().encode(PushVerifier.signedText(id, userName, timestamp, push.isWithdrawal));
    for (const key of this.keys.keys) {
      if (await this.#isValid(key, signature, text)) {
        // A time in the future is a clock that is behind. The signature says that the server wrote it.
        return now - Number(timestamp) > this.maxAge ? DiagnosticCode.tooOld : null;
      }
    }
    return DiagnosticCode.badSignature;
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

  /**
   * @param {string} x
   * @param {Uint8Array} signature
   * @param {Uint8Array} text
   * @returns {Promise<boolean>}
   */
  async #isValid(x, signature, text) {
    try {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x };
      const key = await this.subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify']);
      return await this.subtle.verify({ name: 'Ed25519' }, key, signature, text);
    } catch {
      return false;
    }
  }

  /**
   * Whether this browser can verify signatures.
   *
   * @param {Crypto} [crypto]
   * @returns {Promise<boolean>}
   */
  static async isSupported(crypto = globalThis.crypto) {
    try {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
      await crypto.subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify']);
      return true;
    } catch {
      return false;
    }
  }
}
