import { emptyState, isState, StateChanges } from './state.js';

/**
 * Credentials as they are stored. They do not show in logs: nothing here is ever logged.
 *
 * @typedef {object} StoredCredentials
 * @property {string} userName
 * @property {string | null} accessToken `null` if there is none, or if the server has refused it
 * @property {number | null} expiresAt in seconds since 1970; `null` if that is not known
 * @property {string | null} refreshToken the single-use token for the next access token
 * @property {string | null} [password] what earlier versions may have kept. It is never used, and removed at the next use
 */

/**
 * A log-out of which the server has not been told yet. With its credentials the installation is removed and the session
 * ended at a later start or wake, for at most a day.
 *
 * @typedef {object} Departure
 * @property {string} id
 * @property {string | null} userName
 * @property {string} retrievalURL
 * @property {string | null} installationID `null` if nothing was registered, or if it is removed
 * @property {string | null} endpoint the digest of the endpoint that was registered, if it was one of the browser's
 * @property {StoredCredentials | null} credentials `null`: the app's own provider has them
 * @property {string[]} ids the notifications that are to be removed from the screen
 * @property {number} at in seconds since 1970
 */

/**
 * An encrypted content that was opened. It says nothing of the content.
 *
 * @typedef {object} OpenedEnvelope
 * @property {string} id the sender's ID of the content
 * @property {string} notification a digest of the ID of the notification in which it came
 * @property {number} at the sender's time, in seconds since 1970
 * @property {number} expired the time before which contents are refused by their time, and need not be remembered
 */

/** The most contents that a store remembers. */
export const maxEnvelopes = 10_000;

/**
 * Everything that a log-out changes.
 *
 * @typedef {object} StoredValues
 * @property {import('./state.js').ClientState} state
 * @property {StoredCredentials | null} credentials
 * @property {boolean} keepsDeviceKeys `true`; a change that sets it to `false` removes the device's keys
 * @property {Departure[]} departures
 */

/**
 * Where the client keeps its state between wakes. The page and its service worker share one: `IndexedDBStore`.
 * `MemoryClientStore` forgets everything at the end.
 *
 * @typedef {object} ClientStore
 * @property {() => Promise<import('./state.js').ClientState>} read an empty state if there is none, or if it was
 *   damaged
 * @property {<Result>(change: (state: import('./state.js').ClientState) => Result) => Promise<Result>} update changes
 *   the state. It is atomic: no other process sees half of it or changes it in between, and after a crash it has
 *   happened or not. The change has no other effect, as it may run more than once
 * @property {() => Promise<StoredCredentials | null>} credentials
 * @property {(credentials: StoredCredentials | null) => Promise<void>} saveCredentials `null` removes them
 * @property {(expected: StoredCredentials, credentials: StoredCredentials) => Promise<boolean>} replaceCredentials
 *   replaces the credentials if they are still the expected ones; returns whether they were
 * @property {() => Promise<import('./device-key.js').DeviceKey[]>} deviceKeys the keys for end-to-end encryption, newest
 *   first
 * @property {(change: (keys: import('./device-key.js').DeviceKey[]) => import('./device-key.js').DeviceKey[]) =>
 *   Promise<import('./device-key.js').DeviceKey[]>} updateDeviceKeys changes these keys, atomically as `update` does, and
 *   returns those that are kept
 * @property {(envelope: OpenedEnvelope) => Promise<boolean>} rememberEnvelope remembers an encrypted content that is about
 *   to be shown; `false` if it was opened under another notification. The newest 10,000 are kept, and none that
 *   is too old; a log-out does not remove them
 * @property {<Result>(change: (values: StoredValues) => Result) => Promise<Result>} updateAll changes the state, the
 *   credentials, the device's keys and the departures in one atomic step, as `update` does
 * @property {() => Promise<Departure[]>} departures
 * @property {() => void} [abandon] called after a call that took too long: the next one begins anew
 * @property {() => Promise<boolean>} claimLockedNotice claims the right to show the one notice that says that the
 *   device is locked. It works while the other calls reject with `locked`
 */

/**
 * Whether these are the same credentials.
 *
 * @param {StoredCredentials | null} one
 * @param {StoredCredentials} other
 * @returns {boolean}
 */
export const areSame = (one, other) => (
  one?.userName === other.userName && one.accessToken === other.accessToken
  && one.refreshToken === other.refreshToken);

/** Why a store cannot be used now. */
export class ClientStoreError extends Error {
  /**
   * @param {'locked' | 'unreadable' | 'unwritable'} reason `locked`: the device was not unlocked since it started.
   *   `unwritable`: the store is full or read-only
   */
  constructor(reason) {
    super(`The store cannot be used (${reason}).`);
    this.name = 'ClientStoreError';
    this.reason = reason;
  }
}

/**
 * @param {unknown} error
 * @returns {boolean}
 */
export const isLocked = (error) => error instanceof ClientStoreError && error.reason === 'locked';

/**
 * A store that forgets everything at the end, for tests and tools.
 *
 * @implements {ClientStore}
 */
export class MemoryClientStore {
  constructor() {
    /** @type {unknown} */
    this.state = null;
    /** @type {StoredCredentials | null} */
    this.stored = null;
    /** @type {import('./device-key.js').DeviceKey[]} */
    this.keys = [];
    /** @type {Map<string, {notification: string, at: number}>} */
    this.envelopes = new Map();
    /** @type {Departure[]} */
    this.left = [];
    this.hasClaimedLockedNotice = false;
  }

  async read() { return isState(this.state) ? structuredClone(this.state) : emptyState(); }

  /**
   * @template Result
   * @param {(state: import('./state.js').ClientState) => Result} change
   * @returns {Promise<Result>}
   */
  async update(change) {
    const state = isState(this.state) ? structuredClone(this.state) : emptyState();
    const result = change(state);
    this.state = state;
    return result;
  }

  async credentials() { return this.stored && { ...this.stored }; }

  /** @param {StoredCredentials | null} credentials */
  async saveCredentials(credentials) { this.stored = credentials && { ...credentials }; }

  /**
   * @param {StoredCredentials} expected
   * @param {StoredCredentials} credentials
   */
  async replaceCredentials(expected, credentials) {
    const isExpected = areSame(this.stored, expected);
    if (isExpected) this.stored = { ...credentials };
    return isExpected;
  }

  async deviceKeys() { return [...this.keys]; }

  /** @param {(keys: import('./device-key.js').DeviceKey[]) => import('./device-key.js').DeviceKey[]} change */
  async updateDeviceKeys(change) {
    this.keys = change([...this.keys]);
    return [...this.keys];
  }

  /** @param {OpenedEnvelope} envelope */
  async rememberEnvelope({ id, notification, at, expired }) {
    const known = this.envelopes.get(id);
    if (known) return known.notification === notification;
    this.envelopes.set(id, { notification, at });
    const oldest = [...this.envelopes].sort(([, one], [, other]) => one.at - other.at);
    const surplus = this.envelopes.size - maxEnvelopes;
    oldest.filter(([, record], index) => index < surplus || record.at < expired)
      .forEach(([name]) => this.envelopes.delete(name));
    return true;
  }

  /**
   * @template Result
   * @param {(values: StoredValues) => Result} change
   * @returns {Promise<Result>}
   */
  async updateAll(change) {
    const state = isState(this.state) ? structuredClone(this.state) : emptyState();
    const values = {
      state, credentials: await this.credentials(), keepsDeviceKeys: true, departures: structuredClone(this.left),
    };
    const result = change(values);
    [this.state, this.stored, this.left] = [values.state, values.credentials, values.departures];
    if (!values.keepsDeviceKeys) this.keys = [];
    return result;
  }

  async departures() { return structuredClone(this.left); }

  async claimLockedNotice() {
    const isFirst = !this.hasClaimedLockedNotice;
    this.hasClaimedLockedNotice = true;
    return isFirst;
  }
}

/**
 * Reads and changes the client's state, also while the store cannot be written.
 *
 * A full or read-only store must not keep a secret from the user. So changes that cannot be stored stay in memory,
 * and are stored with the next change that can. If the process ends before that, a secret may be shown again.
 */
export class StateKeeper {
  /**
   * @param {ClientStore} store
   * @param {import('./configuration.js').ClientLimits} limits
   */
  constructor(store, limits) {
    this.store = store;
    this.limits = limits;
    /** @type {import('./state.js').ClientState | null} the state with the changes that are not stored */
    this.unsaved = null;
    /** @type {import('./state.js').ClientState | null} */
    this.lastRead = null;
  }

  /**
   * The state.
   *
   * @returns {Promise<import('./state.js').ClientState>}
   * @throws {ClientStoreError} `locked`. Other errors are an empty state
   */
  async read() {
    try {
      const state = await this.store.read();
      if (this.unsaved) new StateChanges(state, this.limits).merge(this.unsaved);
      this.lastRead = structuredClone(state);
      return state;
    } catch (error) {
      if (isLocked(error)) throw error;
      return structuredClone(this.unsaved ?? this.lastRead ?? emptyState());
    }
  }

  /**
   * Changes the state.
   *
   * @template Result
   * @param {(changes: StateChanges, state: import('./state.js').ClientState) => Result} change
   * @returns {Promise<Result>}
   * @throws {ClientStoreError} `locked`
   */
  async update(change) {
    const pending = this.unsaved;
    try {
      const { result, state } = await this.store.update((stored) => {
        const changes = new StateChanges(stored, this.limits);
        if (pending) changes.merge(pending);
        return { result: change(changes, stored), state: structuredClone(stored) };
      });
      this.lastRead = state;
      // Changes that came in between stay for the next time.
      if (this.unsaved === pending) this.unsaved = null;
      return result;
    } catch (error) {
      if (isLocked(error)) throw error;
      const state = structuredClone(this.unsaved ?? this.lastRead ?? emptyState());
      const result = change(new StateChanges(state, this.limits), state);
      this.unsaved = state;
      return result;
    }
  }

  /**
   * Changes everything that a log-out changes, in one step. Changes that could not be stored until now are dropped.
   *
   * @template Result
   * @param {(changes: StateChanges, values: StoredValues) => Result} change
   * @returns {Promise<Result>}
   * @throws {ClientStoreError} if it cannot be stored: then nothing has changed
   */
  async updateAll(change) {
    const pending = this.unsaved;
    const { result, state } = await this.store.updateAll((values) => {
      const changes = new StateChanges(values.state, this.limits);
      if (pending) changes.merge(pending);
      return { result: change(changes, values), state: structuredClone(values.state) };
    });
    this.lastRead = state;
    this.unsaved = null;
    return result;
  }

  /**
   * Like {@link update}, but returns a fallback while the store is locked.
   *
   * @template Result
   * @param {Result} fallback
   * @param {(changes: StateChanges, state: import('./state.js').ClientState) => Result} change
   * @returns {Promise<Result>}
   */
  async tryUpdate(fallback, change) {
    try { return await this.update(change); } catch { return fallback; }
  }

  /** The state; `null` while the store is locked. */
  async tryRead() {
    try { return await this.read(); } catch { return null; }
  }
}
