import { encodeBase64URL } from './base64url.js';

/**
 * A digest, so that the channel itself is not stored: whoever knows it can take the device over.
 *
 * @param {Crypto} crypto
 * @param {import('./subscription.js').PushDevice} device
 * @returns {Promise<string>}
 */
export const deviceDigest = (crypto, { platform, channel, tags = [] }) => (
  textDigest(crypto, [platform, channel.endpoint, channel.p256dh, channel.auth, ...tags].join('\n')));

/**
 * @param {Crypto} crypto
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function textDigest(crypto, text) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return encodeBase64URL(new Uint8Array(digest));
}
