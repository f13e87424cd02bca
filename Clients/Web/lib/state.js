import { isPushID } from './push.js';
import { mayHaveBeenRead, SecretLedger } from './ledger.js';

/**
 * The state of a client between wakes. It can be copied by `structuredClone`.
 *
 * @typedef {object} ClientState
 * @property {string | null} owner the user whose notifications the state is about
 * @property {number} userChanges how often the user has changed, or the device was unregistered
 * @property {import('./ledger.js').LedgerEntry[]} entries the ledger
 * @property {string | null} cursor the newest notification that the client has seen in the inbox
 * @property {boolean} isPrompted whether the user was asked to log in
 * @property {string[]} unconfirmed withdrawn notifications that this device may have been the first to read. The server
 *   is asked whether they still exist
 * @property {string[]} unreported shown notifications of which the server has not been told, oldest first
 * @property {GenericReport[]} [genericTexts] generic texts of which the server has not been told, oldest first
 * @property {{id: string, at: number}[]} [expiring] when notifications on the screen are to be removed, in seconds since
 *   1970
 * @property {RegistrationRecord} registration
 * @property {string | null} keyOwner the user for whom the device's keys for end-to-end encryption were made
 * @property {string | null} [keySent] the fingerprint of the key that the server has taken
 * @property {string[] | null} pushKeys keys for pushes from `GET /api/push-keys`. They replace the configured ones
 * @property {number | null} pushKeysReadAt when they came, in seconds since 1970
 * @property {number | null} [pushKeysAskedAt] when the server was asked for them because of a push, in seconds since 1970
 * @property {{process: string, takenAt: number} | null} refreshLease the process that refreshes the credentials now. A
 *   refresh token that is used twice ends the session
 */

/**
 * The registration of this device, as far as the client remembers it.
 *
 * @typedef {object} RegistrationRecord
 * @property {string | null} installationID chosen once by the client
 * @property {string | null} userName the user for whom the device is registered
 * @property {string | null} digest of the platform, the channel and the tags
 * @property {number | null} registeredAt in seconds since 1970
 * @property {string | null} [endpoint] a digest of the endpoint for which the ID was chosen; `null`: the browser has
 *   announced another one. A state that a backup has brought to another device finds another endpoint there
 * @property {{userName: string, tags: string[], serverKey: string | null} | null} [wanted] what the app asked for,
 *   until it unregisters: it is tried again when it failed, and when the browser changes the subscription. `serverKey` is the
 *   public VAPID key
 */

/**
 * A generic text that the user has seen. The code is `null` where only the app shows the secret.
 *
 * @typedef {{id: string, code: string | null}} GenericReport
 */

/**
 * The state at the moment at which the client asked for a notification.
 *
 * @typedef {{isRepeated: boolean, userChanges: number}} FetchRequest `isRepeated`: this device has asked for it before
 *   without an answer, and the server may have marked it as read then
 */

/** The list of reports is limited, so that the state stays small. */
const maxUnsent = 200;

/** @returns {ClientState} */
export const emptyState = () => ({
  owner: null, userChanges: 0, entries: [], cursor: null, isPrompted: false, unconfirmed: [], unreported: [],
  genericTexts: [], expiring: [], registration: emptyRegistration(), keyOwner: null, keySent: null, pushKeys: null,
  pushKeysReadAt: null, pushKeysAskedAt: null, refreshLease: null,
});

/**
 * @param {string | null} [installationID]
 * @param {RegistrationRecord['wanted']} [wanted]
 * @param {string | null} [endpoint]
 * @returns {RegistrationRecord}
 */
export const emptyRegistration = (installationID = null, wanted = null, endpoint = null) => ({
  installationID, userName: null, digest: null, registeredAt: null, wanted, endpoint,
});

/** @type {Record<string, (value: any) => boolean>} */
const is = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  ids: (value) => Array.isArray(value) && value.every(isPushID),
  // It becomes a part of a path.
  uuid: (value) => is.text(value) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  wanted: (value) => is.text(value.userName) && Array.isArray(value.tags) && value.tags.every(is.text)
    && orNull(is.text)(value.serverKey),
  entry: (value) => isPushID(value?.id) && is.text(value.progress) && is.number(value.at)
    && is.number(value.openRequests),
};

/** @param {(value: any) => boolean} check */
const listOf = (check) => (/** @type {any} */ value) => Array.isArray(value) && value.every(check);

/** @param {(value: any) => boolean} check */
const orNull = (check) => (/** @type {any} */ value) => value === null || check(value);

/** What each member of a state has to be. */
const members = {
  owner: orNull(is.text),
  userChanges: is.number,
  entries: (/** @type {any} */ value) => Array.isArray(value) && value.every(is.entry),
  cursor: orNull(isPushID),
  unconfirmed: is.ids,
  unreported: is.ids,
  genericTexts: (/** @type {any} */ value) => (
    listOf((item) => isPushID(item?.id) && orNull(is.text)(item.code))(value ?? [])),
  expiring: (/** @type {any} */ value) => listOf((item) => isPushID(item?.id) && is.number(item.at))(value ?? []),
  registration: (/** @type {any} */ value) => orNull(is.uuid)(value?.installationID)
    && orNull(is.text)(value.userName) && orNull(is.text)(value.digest) && orNull(is.number)(value.registeredAt)
    && orNull(is.wanted)(value.wanted ?? null) && orNull(is.text)(value.endpoint ?? null),
  keyOwner: orNull(is.text),
  keySent: (/** @type {any} */ value) => orNull(is.text)(value ?? null),
  pushKeys: orNull((value) => Array.isArray(value) && value.every(is.text)),
  pushKeysReadAt: orNull(is.number),
  pushKeysAskedAt: (/** @type {any} */ value) => orNull(is.number)(value ?? null),
};

/**
 * Whether a value that was stored is a state. The value may come from another version or be damaged.
 *
 * @param {any} value
 * @returns {value is ClientState}
 */
export function isState(value) {
  return typeof value === 'object' && value !== null
    && Object.entries(members).every(([name, check]) => check(value[name]));
}

/** Changes of a state that concern more than its ledger. */
export class StateChanges {
  /**
   * @param {ClientState} state changed in place
   * @param {import('./configuration.js').ClientLimits} limits
   */
  constructor(state, limits) {
    this.state = state;
    this.limits = limits;
    this.ledger = new SecretLedger(state.entries, limits);
  }

  /**
   * Takes over what was noted while the store could not be written.
   *
   * @param {ClientState} other
   */
  merge(other) {
    const { state } = this;
    // Another process has changed the user in the meantime.
    if (other.userChanges < state.userChanges) return;
    if (other.userChanges > state.userChanges || (other.owner !== state.owner && state.owner !== null)) {
      Object.assign(state, structuredClone(other));
      this.ledger.entries = state.entries;
      return;
    }
    state.owner = other.owner;
    this.ledger.merge(other.entries);
    state.cursor = other.cursor ?? state.cursor;
    state.isPrompted = other.isPrompted;
    state.unconfirmed = [...new Set([...state.unconfirmed, ...other.unconfirmed])];
    state.unreported = [...new Set([...state.unreported, ...other.unreported])];
    for (const { id, code } of other.genericTexts ?? []) this.reportGeneric(id, code);
    for (const { id, at } of other.expiring ?? []) this.expire(id, at);
    // A state that began empty, because the store could not be read, knows no ID.
    if (other.registration.installationID !== null) state.registration = { ...other.registration };
    else if (other.registration.wanted) state.registration.wanted = other.registration.wanted;
    state.keyOwner = other.keyOwner ?? state.keyOwner;
    if (other.pushKeys) Object.assign(state, { pushKeys: [...other.pushKeys], pushKeysReadAt: other.pushKeysReadAt });
  }

  /**
   * Notes the user. Another user's notifications are forgotten.
   *
   * @param {string} userName
   * @returns {string[]} the IDs that are to be removed from the screen
   */
  adopt(userName) {
    if (this.state.owner !== null && this.state.owner !== userName) return this.forget(userName);
    this.state.owner = userName;
    return [];
  }

  /**
   * Forgets the user's notifications. The installation's ID, the registration and the keys stay.
   *
   * @param {string | null} newOwner
   * @returns {string[]} the IDs that are to be removed from the screen
   */
  forget(newOwner) {
    const ids = this.state.entries.map((entry) => entry.id);
    this.state.entries.length = 0;
    Object.assign(this.state, {
      cursor: null, isPrompted: false, unreported: [], genericTexts: [], expiring: [], unconfirmed: [], owner: newOwner,
      userChanges: this.state.userChanges + 1,
    });
    return ids;
  }

  /**
   * Notes a withdrawal.
   *
   * A withdrawal also follows when one of the user's devices has read the notification (`DISPATCH_WITHDRAW=read`), and
   * reaches that device too. If this device may have been the first to read it, the server has to confirm the
   * withdrawal first. That includes a request without an answer: the browser may have ended the worker, or the network
   * failed, after the server had marked it as read.
   *
   * The server has to confirm each withdrawal that is not signed: anybody could silence a message otherwise.
   *
   * @param {string} id
   * @param {boolean} isSigned
   * @param {number} now
   * @returns {boolean} whether it is to be removed from the screen now
   */
  withdraw(id, isSigned, now) {
    const entry = this.ledger.get(id);
    if (!isSigned || (entry && mayHaveBeenRead(entry))) {
      addBounded(this.state.unconfirmed, id);
      return false;
    }
    this.endWithdrawn(id, now);
    return true;
  }

  /**
   * Notes that a notification is withdrawn for good.
   *
   * @param {string} id
   * @param {number} now
   */
  endWithdrawn(id, now) {
    this.state.unconfirmed = this.state.unconfirmed.filter((unconfirmed) => unconfirmed !== id);
    this.ledger.withdraw(id, now);
  }

  /**
   * Ends the prompt to log in, if nothing waits behind it.
   *
   * @returns {boolean} whether it is to be removed from the screen
   */
  endEmptyPrompt() {
    if (!this.state.isPrompted || this.ledger.waiting.length > 0) return false;
    this.state.isPrompted = false;
    return true;
  }

  /**
   * Notes that the server is being asked for a notification.
   *
   * @param {string} id
   * @returns {FetchRequest}
   */
  request(id) { return { isRepeated: this.ledger.markRequested(id), userChanges: this.state.userChanges }; }

  /**
   * Notes that the server has marked nothing as read for a request.
   *
   * @param {string} id
   * @param {FetchRequest} request
   */
  unrequest(id, { userChanges }) {
    if (this.state.userChanges === userChanges) this.ledger.unmarkRequested(id);
  }

  /**
   * Claims the right to show a secret, unless the user has changed since the client asked for it. If it was withdrawn
   * while this device, its first reader, fetched it, it is shown, and the server has to confirm the withdrawal. If
   * another device was the first, the withdrawal holds.
   *
   * @param {import('./answers.js').FetchedNotification} secret
   * @param {FetchRequest} request
   * @param {string} process
   * @param {boolean} isSigned whether withdrawals are signed. Otherwise one of them says nothing against the server's answer
   * @param {number} now
   * @returns {ReturnType<SecretLedger['claim']> | {kind: 'withdrawn'}} `withdrawn`: it is to be removed from the screen
   */
  claim(secret, request, process, isSigned, now) {
    // A damaged state begins at 0 again. Its secrets are shown.
    if (this.state.userChanges > request.userChanges) return { kind: 'settled' };
    const isFirstReader = !secret.wasRead || request.isRepeated;
    const entry = this.ledger.get(secret.id);
    const isUnread = entry?.progress === 'pending' && !entry.isFirstReader;
    if (isSigned && this.state.unconfirmed.includes(secret.id) && isUnread && !isFirstReader) {
      this.endWithdrawn(secret.id, now);
      return { kind: 'withdrawn' };
    }
    const wasWithdrawn = entry?.progress === 'withdrawn';
    const claim = this.ledger.claim(secret.id, process, isFirstReader, now);
    if (claim.kind === 'granted' && wasWithdrawn) addBounded(this.state.unconfirmed, secret.id);
    return claim;
  }

  /**
   * Notes that a secret is shown, so that the server is told.
   *
   * @param {string} id
   */
  report(id) { addBounded(this.state.unreported, id); }

  /**
   * Notes that a generic text is shown, so that the server is told.
   *
   * @param {string} id
   * @param {string | null} code
   */
  reportGeneric(id, code) {
    const others = (this.state.genericTexts ?? []).filter((text) => text.id !== id);
    this.state.genericTexts = [...others, { id, code }].slice(-maxUnsent);
  }

  /**
   * Notes when what is shown of a notification is to be removed.
   *
   * @param {string} id
   * @param {number} at in seconds since 1970
   */
  expire(id, at) {
    const others = (this.state.expiring ?? []).filter((other) => other.id !== id);
    this.state.expiring = [...others, { id, at }].slice(-this.limits.maxRememberedIDs);
  }
}

/**
 * @param {string[]} list
 * @param {string} id
 */
function addBounded(list, id) {
  if (list.includes(id)) return;
  list.push(id);
  if (list.length > maxUnsent) list.shift();
}
