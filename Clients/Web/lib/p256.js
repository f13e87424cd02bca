import { decodeBase64URL, encodeBase64URL } from './base64url.js';

/** The curve of all keys: P-256 (FIPS 186-4, D.1.2.3), by its prime and its coefficient b. */
const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** @param {Uint8Array} bytes */
const integer = (bytes) => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

/**
 * Whether these bytes are an uncompressed point on P-256 (SEC 1, 2.3.3). Web Crypto refuses other points, too, but only
 * when a key is used.
 *
 * @param {Uint8Array | null} point
 * @returns {point is Uint8Array}
 */
export function isPoint(point) {
  if (point?.length !== 65 || point[0] !== 4) return false;
  const [x, y] = [integer(point.subarray(1, 33)), integer(point.subarray(33))];
  return x < prime && y < prime && (y * y - (x * x * x - 3n * x + b)) % prime === 0n;
}

/**
 * The point of the coordinates of a JSON Web Key (RFC 7518, 6.2.1).
 *
 * @param {unknown} x
 * @param {unknown} y
 * @returns {Uint8Array | null} `null` if it is none
 */
export function pointOf(x, y) {
  const [first, second] = [decodeBase64URL(x, 64), decodeBase64URL(y, 64)];
  if (first?.length !== 32 || second?.length !== 32) return null;
  const point = new Uint8Array([4, ...first, ...second]);
  return isPoint(point) ? point : null;
}

/**
 * The JSON Web Key of a point.
 *
 * @param {Uint8Array} point
 */
export const jwkOf = (point) => ({
  kty: 'EC', crv: 'P-256', x: encodeBase64URL(point.subarray(1, 33)), y: encodeBase64URL(point.subarray(33)),
});

/**
 * The thumbprint of a key (RFC 7638, SHA-256).
 *
 * @param {Uint8Array} point
 * @param {Crypto} [crypto]
 * @returns {Promise<Uint8Array>} 32 bytes
 */
export async function thumbprint(point, crypto = globalThis.crypto) {
  const { crv, kty, x, y } = jwkOf(point);
  const text = JSON.stringify({ crv, kty, x, y });
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/**
 * Checks a signature: ECDSA with P-256 and SHA-256, in the form r‖s (RFC 7518, 3.4).
 *
 * @param {Crypto} crypto
 * @param {Uint8Array} point the public key
 * @param {Uint8Array} signature
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function isSigned({ subtle }, point, signature, text) {
  try {
    const key = await subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
    return await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, new TextEncoder().encode(text));
  } catch {
    return false;
  }
}
