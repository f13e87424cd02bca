import { decodeBase64URL } from './base64url.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { decrypt, join, openHPKE } from './hpke.js';
import { readMessage } from './message.js';
import { isPoint, isSigned } from './p256.js';
import { isInstallationID } from './push.js';
import { membersOf, readStrictJSON, textOf } from './strict-json.js';
import { hexadecimal } from './user-tag.js';

/**
 * End-to-end encrypted payloads: `{"e2e":2,"keys":{"DEVICE":{"enc","ct"}},"iv","ct"}`, and with a signature `"from"` and
 * `"sig"`.
 *
 * The content is encrypted by AES-256-GCM with the recipient's name as additional data. Its key is sealed for each device
 * by HPKE, bound to the name and to a digest of what is encrypted.
 */

/**
 * What was in an envelope, or a payload that is none.
 *
 * @typedef {object} Opened
 * @property {string} json the content's JSON text
 * @property {string | null} text what is shown of it: the string, or the message's body; `null`: it is for the app
 * @property {import('./message.js').Message | null} message
 * @property {boolean} isEncrypted
 * @property {string | null} id the sender's ID of an encrypted content, in lower case
 * @property {number | null} at the sender's time, in seconds since 1970
 * @property {number | null} expiresAt
 */

/** @typedef {Map<string, import('./strict-json.js').JSONValue>} Members */

const encoder = new TextEncoder();
const version = 'securepush-e2e-v2';
const info = encoder.encode(version);
const maxDevices = 100;
/** An envelope of a later time is not opened, nor one that is older, in seconds. */
const maxAhead = 86_400;
export const maxAge = 90 * 86_400;

/**
 * Opens a payload, if it is encrypted.
 *
 * @param {string} payload the JSON text of the payload
 * @param {object} receiver
 * @param {string} receiver.recipient the user
 * @param {string | null} receiver.device the installation's ID
 * @param {readonly import('./device-key.js').DeviceKey[]} receiver.keys the device's keys, newest first
 * @param {import('./key-set.js').SenderKeySet | null} [receiver.senderKeys] the senders whose envelopes are opened; `null`:
 *   those of everybody
 * @param {boolean} [receiver.requiresEncryption] whether a payload that is not encrypted is refused
 * @param {number} [receiver.now] in seconds since 1970
 * @param {(id: string, at: number) => Promise<boolean>} [receiver.remember] remembers the ID and the time of a content
 *   before it is given out; `false`: it was opened before, and is refused
 * @param {Crypto} [receiver.crypto]
 * @returns {Promise<Opened>}
 * @throws {SecurePushFailure} `SP-DECRYPT` if it is not strict JSON, malformed or does not open; `SP-SENDER`; `SP-KEY` if it
 *   is not for this device; `SP-REPLAY`, `SP-EXPIRED`, `SP-PLAIN`; and the errors of `remember`
 */
export async function openEnvelope(payload, { recipient, device, keys, ...options }) {
  return openPayload(payload, async () => ({ recipient, device, keys }), options);
}

/**
 * {@link openEnvelope} with a function that gives the receiver. It is called for what is encrypted, or claims to be.
 *
 * @param {string} payload
 * @param {() => Promise<{recipient: string, device: string | null, keys:
 *   readonly import('./device-key.js').DeviceKey[]}>} receiver
 * @param {object} options
 * @param {import('./key-set.js').SenderKeySet | null} [options.senderKeys]
 * @param {boolean} [options.requiresEncryption]
 * @param {number} [options.now]
 * @param {(id: string, at: number) => Promise<boolean>} [options.remember]
 * @param {Crypto} [options.crypto]
 * @returns {Promise<Opened>}
 * @throws {SecurePushFailure} as `openEnvelope` does, and the errors of `receiver`
 */
export async function openPayload(payload, receiver, {
  senderKeys = null, requiresEncryption = false, now = Date.now() / 1000, remember = async () => true,
  crypto = globalThis.crypto,
}) {
  const value = strictly(payload);
  const members = membersOf(value);
  if (!members?.has('e2e')) {
    if (requiresEncryption) throw new SecurePushFailure(DiagnosticCode.notEncrypted);
    return { json: value.json, ...readMessage(value), isEncrypted: false, id: null, at: null, expiresAt: null };
  }
  const { recipient, device, keys } = await receiver();
  const envelope = readEnvelope(members);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', join(envelope.iv, envelope.ct)));
  if (senderKeys && !await isOfSender(envelope, senderKeys, signedText(recipient, digest), crypto)) {
    throw new SecurePushFailure(DiagnosticCode.unknownSender);
  }
  const sealed = device === null ? undefined : envelope.keys.get(device);
  if (!sealed || keys.length === 0) throw new SecurePushFailure(DiagnosticCode.noKey);
  const { id, at, expiresAt, content } = readContent(
    await decryptContent(envelope, sealed, keys, recipient, digest, crypto));
  const seconds = Math.floor(now);
  const isInTime = at <= seconds + maxAhead && at >= seconds - maxAge;
  if (!isInTime || !await remember(id, at)) throw new SecurePushFailure(DiagnosticCode.replayed);
  if (expiresAt !== null && expiresAt <= seconds) throw new SecurePushFailure(DiagnosticCode.expired);
  return { json: content.json, ...readMessage(content), isEncrypted: true, id, at, expiresAt };
}

const undecryptable = () => new SecurePushFailure(DiagnosticCode.undecryptable);

/**
 * @param {string | Uint8Array} json
 * @throws {SecurePushFailure} `SP-DECRYPT` if it is not strict JSON
 */
function strictly(json) {
  try { return readStrictJSON(json); } catch { throw undecryptable(); }
}

/**
 * The bytes of a member.
 *
 * @param {Members} members
 * @param {string} name
 */
const bytesOf = (members, name) => decodeBase64URL(textOf(members.get(name)));

/** @param {Members} members */
function readEnvelope(members) {
  const [iv, ct, sig] = ['iv', 'ct', 'sig'].map((name) => bytesOf(members, name));
  const list = membersOf(members.get('keys'));
  const from = textOf(members.get('from'));
  const isSigned = members.has('from') || members.has('sig');
  const sender = from === null ? 0 : encoder.encode(from).length;
  const isSender = !isSigned || (sender >= 1 && sender <= 128 && sig?.length === 64);
  if (members.get('e2e')?.json !== '2' || iv?.length !== 12 || !ct || ct.length < 16 || !isSender
    || !list || list.size < 1 || list.size > maxDevices) {
    throw undecryptable();
  }
  const keys = new Map([...list].map(([name, value]) => [name, readSealedKey(name, membersOf(value))]));
  return { iv, ct, keys, from, sig };
}

/**
 * @param {string} name
 * @param {Members | null} entry
 */
function readSealedKey(name, entry) {
  const enc = entry && bytesOf(entry, 'enc');
  const ct = entry && bytesOf(entry, 'ct');
  if (!isInstallationID(name) || enc?.length !== 65 || enc[0] !== 4 || ct?.length !== 48) throw undecryptable();
  return { enc, ct };
}

/**
 * The text that a sender signs.
 *
 * @param {string} recipient
 * @param {Uint8Array} digest of `iv` and `ct`
 */
const signedText = (recipient, digest) => (
  `${version}\n${recipient}\n${Array.from(digest, hexadecimal).join('')}\n`);

/**
 * @param {ReturnType<typeof readEnvelope>} envelope
 * @param {import('./key-set.js').SenderKeySet} senderKeys
 * @param {string} text
 * @param {Crypto} crypto
 */
async function isOfSender({ from, sig }, senderKeys, text, crypto) {
  if (from === null || !sig) return false;
  for (const point of await senderKeys.named(from, crypto)) if (await isSigned(crypto, point, sig, text)) return true;
  return false;
}

/**
 * @param {ReturnType<typeof readEnvelope>} envelope
 * @param {{enc: Uint8Array, ct: Uint8Array}} sealed
 * @param {readonly import('./device-key.js').DeviceKey[]} keys
 * @param {string} recipient
 * @param {Uint8Array} digest
 * @param {Crypto} crypto
 * @returns {Promise<Uint8Array>}
 */
async function decryptContent({ iv, ct }, sealed, keys, recipient, digest, { subtle }) {
  const name = encoder.encode(recipient);
  const aad = join(name, new Uint8Array([0]), digest);
  if (!isPoint(sealed.enc)) throw undecryptable();
  for (const key of keys) {
    // It may be sealed for a former key.
    const contentKey = await openHPKE(subtle, key, sealed, info, aad).catch(() => null);
    if (!contentKey) continue;
    try {
      return await decrypt(subtle, contentKey, iv, ct, name);
    } catch {
      break;
    }
  }
  throw undecryptable();
}

/**
 * The content and what the sender says of it. The blanks at its end hide its length.
 *
 * @param {Uint8Array} bytes
 * @throws {SecurePushFailure}
 */
function readContent(bytes) {
  const members = membersOf(strictly(bytes));
  const id = textOf(members?.get('id'))?.toLowerCase() ?? '';
  const content = members?.get('content');
  const at = secondsOf(members?.get('at'));
  const expiresAt = secondsOf(members?.get('exp'));
  const isMalformed = at === null || (expiresAt === null && members?.has('exp'));
  if (!content || isMalformed || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw undecryptable();
  return { id, at, expiresAt, content };
}

/**
 * @param {import('./strict-json.js').JSONValue | undefined} value
 * @returns {number | null} `null` unless it is a whole number of 1 to 12 digits
 */
const secondsOf = (value) => (value && /^(0|[1-9][0-9]{0,11})$/.test(value.json) ? Number(value.json) : null);
