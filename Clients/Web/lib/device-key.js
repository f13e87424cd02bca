/**
 * The device's key for end-to-end encryption: X25519. The private key is not extractable, so no script can read it,
 * and it cannot be copied to another device.
 */
export class DeviceKey {
  /**
   * @param {CryptoKey} privateKey
   * @param {string} x the public key in base64url
   */
  constructor(privateKey, x) {
    this.privateKey = privateKey;
    this.x = x;
  }

  /**
   * Makes a key.
   *
   * @param {Crypto} [crypto]
   * @returns {Promise<DeviceKey | null>} `null` if the browser has no X25519
   */
  static async generate(crypto = globalThis.crypto) {
    try {
      const pair = /** @type {CryptoKeyPair} */ (
        await crypto.subtle.generateKey({ name: 'X25519' }, false, ['deriveBits']));
      const { x } = await crypto.subtle.exportKey('jwk', pair.publicKey);
      return x ? new DeviceKey(pair.privateKey, x) : null;
    } catch {
      return null;
    }
  }

  /**
   * @param {any} value what a store has kept
   * @returns {DeviceKey | null}
   */
  static fromStored(value) {
    const isKey = typeof value?.x === 'string' && value.privateKey?.type === 'private';
    return isKey ? new DeviceKey(value.privateKey, value.x) : null;
  }

  /** The public key, as the server takes it. */
  get jwk() { return { kty: 'OKP', crv: 'X25519', x: this.x }; }
}
