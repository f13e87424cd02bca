const maxLength = 512 * 1024;

/**
 * Encodes bytes: base64 with `-` and `_` and without padding (RFC 4648, section 5).
 *
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function encodeBase64URL(bytes) {
  let text = '';
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Decodes a text strictly: each value has one text.
 *
 * @param {unknown} text
 * @param {number} [limit] longer texts are refused unread, in characters
 * @returns {Uint8Array | null} `null` unless the text is exactly what {@link encodeBase64URL} makes of the value
 */
export function decodeBase64URL(text, limit = maxLength) {
  if (typeof text !== 'string' || text.length > limit || !/^[A-Za-z0-9_-]*$/.test(text)) return null;
  if (text.length % 4 === 1) return null;
  let decoded;
  try {
    decoded = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return null;
  }
  const bytes = new Uint8Array(decoded.length);
  for (let index = 0; index < decoded.length; index += 1) bytes[index] = decoded.charCodeAt(index);
  // `atob` ignores bits beyond the last byte, so the value is encoded again and compared.
  return encodeBase64URL(bytes) === text ? bytes : null;
}
