/** The hub's limit for a tag, in characters. */
const maxTagLength = 120;
/** The longest user name, in bytes of UTF-8. */
const maxNameBytes = 1_024;

/**
 * The tag of a user at the hub, `username:NAME` (see the reference page of push payloads). The hub compares tags
 * without regard to case, so every byte besides `a-z 0-9 _ @ . : -` is `#` and two hexadecimal digits. The server
 * adds the tag; apps need it only for their own tools.
 *
 * @param {string} userName
 * @param {Crypto} [crypto]
 * @returns {Promise<string | null>} `null` for a name that no user has: empty, too long, or with control characters
 */
export async function userTag(userName, crypto = globalThis.crypto) {
  const bytes = new TextEncoder().encode(userName);
  if (bytes.length === 0 || bytes.length > maxNameBytes || /\p{Cc}|\p{Surrogate}/u.test(userName)) return null;
  const encoded = Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9_@.:-]/.test(character) ? character : `#${hexadecimal(byte)}`;
  }).join('');
  const tag = `username:${encoded}`;
  if (tag.length <= maxTagLength) return tag;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `username:##${Array.from(digest, hexadecimal).join('')}`;
}

/** @param {number} byte */
export const hexadecimal = (byte) => byte.toString(16).padStart(2, '0');
