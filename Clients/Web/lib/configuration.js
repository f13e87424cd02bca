import { displays } from './display.js';
import { SenderKeySet } from './key-set.js';
import { PushKeySet } from './push-keys.js';

/**
 * Times and sizes that bound the work of one wake.
 *
 * @typedef {object} ClientLimits
 * @property {number} secondsPerTry the longest time for one try
 * @property {number} secondsInTotal the longest time for all the work of one wake. Some browsers end a worker after 30
 *   s
 * @property {number} maxAnswerBytes the longest answer to a fetch. A payload has at most 256 KiB; its JSON form can
 *   be six times as long
 * @property {number} maxShownPerWake how many missed notifications one wake shows. The next wake goes on
 * @property {number} maxRememberedIDs the maximum number of IDs that the client remembers. It shows each of them once
 * @property {number} maxPushAge the oldest signature of a push, in seconds
 * @property {number} claimSeconds the longest time between a claim of a secret and its display. After it, the client
 *   takes the other process (the page or the worker) for dead
 * @property {number} renewsRegistrationAfter the age at which a registration is renewed although nothing has changed,
 *   in seconds
 * @property {number} refreshesPushKeysAfter the age at which a wake reads the server's keys for pushes again, in
 *   seconds
 * @property {number} maxSecretsPerPage the most notifications with payloads that are asked for at once
 */

/**
 * The localisation keys of the texts that are shown in place of a secret. The presenter translates them.
 *
 * @typedef {object} ClientTexts
 * @property {string} generic such as "You have a new message. Open the app to read it."
 * @property {string} logIn such as "You have a new message. Log in to read it."
 * @property {string} locked such as "You may have new messages. Unlock your device to read them."
 * @property {string} withdrawn such as "This message was withdrawn."
 * @property {string} repeated such as "You have this message already."
 * @property {string} nothingNew such as "There is no new message."
 * @property {string} hidden such as "You have a new message. Open the app to read it."
 * @property {string} answered such as "Your answer was sent."
 * @property {string} unanswered such as "Your answer was not sent. Open the app to answer."
 */

/**
 * The settings of the client: the server, the texts and the limits. None of them is ever taken from a push.
 *
 * @typedef {object} SecurePushConfiguration
 * @property {string} retrievalURL where the retrieval service is, such as `https://push.example.com`, without a slash
 *   at the end. A path before `/api` is allowed
 * @property {PushKeySet | null} pushKeys the keys that sign pushes. With keys, a push without a valid signature is
 *   ignored. `null`: pushes are not signed. They hold until the client has read the server's keys, which then replace
 *   them (`refreshesPushKeys`)
 * @property {boolean} refreshesPushKeys whether the client reads `GET /api/push-keys`, so that the server can rotate
 *   its keys: when it registers, and at the end of a wake if the last time was more than
 *   `limits.refreshesPushKeysAfter` ago. Only with `pushKeys`
 * @property {boolean} encryptsEndToEnd whether senders can encrypt end to end for this device: `register` makes and
 *   registers a key. Without it, the user sees the generic text for a notification that is encrypted
 * @property {boolean} requiresEncryption whether a notification that is not encrypted shows the generic text (`SP-PLAIN`)
 * @property {SenderKeySet | null} senderKeys the keys that sign encrypted notifications. With keys, one without a valid
 *   signature shows the generic text (`SP-SENDER`). `null`: signatures are not checked
 * @property {import('./display.js').Display} display how much of a secret the system gets. The stricter one of this and
 *   the sender's wish applies
 * @property {ClientTexts} texts
 * @property {ClientLimits} limits
 * @property {boolean} showsNoticeWhenGone whether the generic text is shown for a push whose notification the server
 *   does not give to this user (403, 404, 410), for example because it was revoked
 */

/** @type {Readonly<ClientLimits>} */
export const defaultLimits = Object.freeze({
  secondsPerTry: 8,
  secondsInTotal: 25,
  maxAnswerBytes: 2 * 1024 * 1024,
  maxShownPerWake: 100,
  maxRememberedIDs: 1_000,
  maxPushAge: 28 * 86_400,
  claimSeconds: 10,
  renewsRegistrationAfter: 7 * 86_400,
  refreshesPushKeysAfter: 3_600,
  maxSecretsPerPage: 20,
});

/** @type {Readonly<ClientTexts>} */
export const defaultTexts = Object.freeze({
  generic: 'securepush.generic',
  logIn: 'securepush.log-in',
  locked: 'securepush.locked',
  withdrawn: 'securepush.withdrawn',
  repeated: 'securepush.repeated',
  nothingNew: 'securepush.nothing-new',
  hidden: 'securepush.hidden',
  answered: 'securepush.answered',
  unanswered: 'securepush.unanswered',
});

/**
 * Checks the address of the retrieval service. Secrets and credentials go there, so it is `https:`, except on this machine.
 *
 * @param {string} retrievalURL
 * @param {boolean} [allowsInsecure] whether `http:` is allowed everywhere, such as in a test network
 * @returns {string} without a slash at the end
 * @throws {TypeError}
 */
export function checkedURL(retrievalURL, allowsInsecure = false) {
  const url = new URL(retrievalURL);
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('retrievalURL must be an http(s) URL without credentials, query and fragment.');
  }
  const isLocal = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal && !allowsInsecure) {
    throw new TypeError('retrievalURL must be https, or allowsInsecure must be set.');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/**
 * Makes a configuration with defaults for what is not given.
 *
 * @param {{retrievalURL: string, pushKeys?: PushKeySet | object | null, refreshesPushKeys?: boolean, encryptsEndToEnd?:
 *   boolean, requiresEncryption?: boolean, senderKeys?: SenderKeySet | object | null, display?:
 *   import('./display.js').Display, texts?: Partial<ClientTexts>, limits?: Partial<ClientLimits>, showsNoticeWhenGone?:
 *   boolean, allowsInsecure?: boolean}} options
 *   `allowsInsecure`: `http:` is allowed for other hosts than this machine. `pushKeys` is a key set, or the JWK Set that
 *   `securepush keys generate --push` writes; `senderKeys` is a key set, or a JWK Set
 * @returns {SecurePushConfiguration}
 * @throws {TypeError} for an address that cannot be used, or a JWK Set without a P-256 key
 */
export function makeConfiguration({
  retrievalURL, pushKeys = null, refreshesPushKeys = true, encryptsEndToEnd = false, requiresEncryption = false,
  senderKeys = null, display = 'full', texts = {}, limits = {}, showsNoticeWhenGone = true, allowsInsecure = false,
}) {
  if (!displays.includes(display)) throw new TypeError('display must be full, redacted or app.');
  return {
    retrievalURL: checkedURL(retrievalURL, allowsInsecure),
    pushKeys: pushKeys === null || pushKeys instanceof PushKeySet ? pushKeys : PushKeySet.fromJWKSet(pushKeys),
    refreshesPushKeys,
    encryptsEndToEnd,
    requiresEncryption,
    senderKeys: senderKeys === null || senderKeys instanceof SenderKeySet
      ? senderKeys : SenderKeySet.fromJWKSet(senderKeys),
    display,
    texts: { ...defaultTexts, ...texts },
    limits: { ...defaultLimits, ...limits },
    showsNoticeWhenGone,
  };
}
