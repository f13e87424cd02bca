import { isPushID } from './push.js';
import { SecretLedger } from './ledger.js';

/**
 * The state of a client between wakes. It can be copied by `structuredClone`.
 *
 * @typedef {object} ClientState
 * @property {string | null} owner the user whose notifications the state is about
 * @property {import('./ledger.js').LedgerEntry[]} entries the ledger
 * @property {string | null} cursor the newest notification that the client has seen in the inbox
 * @property {boolean} isPrompted whether the user was asked to log in
 * @property {string[]} questioned withdrawn notifications that this device was the first to read: the server is asked
 *   whether they still exist
 * @property {string[]} unreported shown notifications of which the server has not been told, oldest first
 * @property {RegistrationRecord} registration
 * @property {string[] | null} pushKeys keys for pushes from `GET /api/push-keys`
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
 * @property {string | null} key the public key for end-to-end encryption that the server has
 */

/** The server needs no complete account, and the state stays small. */
const maxUnreported = 200;

/** @returns {ClientState} */
export const emptyState = () => ({
  owner: null, entries: [], cursor: null, isPrompted: false, questioned: [], unreported: [],
  registration: emptyRegistration(), pushKeys: null, refreshLease: null,
});

/**
 * @param {string | null} [installationID]
 * @returns {RegistrationRecord}
 */
export const emptyRegistration = (installationID = null) => ({
  installationID, userName: null, digest: null, registeredAt: null, key: null,
});

/**
 * Whether a value that was stored is a state. What another version or a fault has left is not used.
 *
 * @param {unknown} value
 * @returns {value is ClientState}
 */
export function isState(value) {
  if (typeof value !== 'object' || value === null) return false;
  const state = /** @type {ClientState} */ (value);
  const isIDs = (list) => Array.isArray(list) && list.every(isPushID);
  return Array.isArray(state.entries)
    && state.entries.every((entry) => (
      isPushID(entry?.id) && typeof entry.at === 'number' && typeof entry.progress === 'string'))
    && isIDs(state.questioned) && isIDs(state.unreported)
    && (state.owner === null || typeof state.owner === 'string') && (state.cursor === null || isPushID(state.cursor))
    && typeof state.registration === 'object' && state.registration !== null
    && (state.pushKeys === null || Array.isArray(state.pushKeys));
}

/** Changes of a state that concern more than its ledger. */
export class StateChanges {
  /**
   * @param {ClientState} state changed in place
   * @param {import('./configuration.js').ClientLimits} limits
   */
  constructor(state, limits) {
    this.state = state;
    this.ledger = new SecretLedger(state.entries, limits);
  }

  /**
   * Takes over what was noted while the store could not be written.
   *
   * @param {ClientState} other
   */
  merge(other) {
    const { state } = this;
    if (other.owner !== state.owner && state.owner !== null) {
      Object.assign(state, structuredClone(other));
      this.ledger.entries = state.entries;
      return;
    }
    state.owner = other.owner;
    this.ledger.merge(other.entries);
    state.cursor = other.cursor ?? state.cursor;
    state.isPrompted = other.isPrompted;
    state.questioned = [...new Set([...state.questioned, ...other.questioned])];
    state.unreported = [...new Set([...state.unreported, ...other.unreported])];
    state.registration = { ...other.registration };
    state.pushKeys = other.pushKeys ?? state.pushKeys;
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
      cursor: null, isPrompted: false, unreported: [], questioned: [], owner: newOwner,
    });
    return ids;
  }

  /**
   * Notes a withdrawal.
   *
   * A withdrawal also follows when one of the user's devices has read the notification (`DISPATCH_WITHDRAW=read`), and
   * reaches that device too. What this device was the first to read is therefore questioned before it is removed.
   *
   * @param {string} id
   * @param {number} now
   * @returns {boolean} whether it is to be removed from the screen now
   */
  withdraw(id, now) {
    const entry = this.ledger.get(id);
    if (entry?.isFirstReader && entry.progress !== 'withdrawn') {
      this.#question(id);
      return false;
    }
    this.ledger.withdraw(id, now);
    return true;
  }

  /**
   * Claims the right to show a secret. If it was withdrawn while this device, its first reader, fetched it, it is shown
   * and questioned.
   *
   * @param {import('./answers.js').SecretNotification} secret
   * @param {boolean} wasAsked whether this device has asked for it before without an answer, which may have marked it
   *   as read
   * @param {string} process
   * @param {number} now
   */
  claim(secret, wasAsked, process, now) {
    const wasWithdrawn = this.ledger.get(secret.id)?.progress === 'withdrawn';
    const claim = this.ledger.claim(secret.id, process, !secret.wasRead || wasAsked, now);
    if (claim.kind === 'granted' && wasWithdrawn) this.#question(secret.id);
    return claim;
  }

  /**
   * Notes that a secret is shown, so that the server is told.
   *
   * @param {string} id
   */
  report(id) { addBounded(this.state.unreported, id); }

  /** @param {string} id */
  #question(id) { addBounded(this.state.questioned, id); }
}

/**
 * @param {string[]} list
 * @param {string} id
 */
function addBounded(list, id) {
  if (list.includes(id)) return;
  list.push(id);
  if (list.length > maxUnreported) list.shift();
}
