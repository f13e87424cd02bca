import { limited, SystemClientClock } from './clock.js';
import { ClientStoreError } from './store.js';
import { TransportError } from './transport.js';

/**
 * @typedef {import('./store.js').ClientStore} ClientStore
 * @typedef {import('./presenter.js').NotificationPresenter} NotificationPresenter
 */

/**
 * The browser may leave a promise pending for ever: a database that another tab blocks, a transaction, or
 * `serviceWorker.ready` without a worker. Each call has these seconds.
 */
const secondsPerCall = 5;
/** After a call that did not end, the next ones have less until one ends: a wake makes many. */
const secondsPerCallWhenStuck = 0.25;
/** Waits for a `CredentialsProvider`, which an app may have written. */
const secondsForUserName = 5;

/** Bounds the calls of one part of the browser. */
class CallLimit {
  /** @param {import('./clock.js').ClientClock} clock */
  constructor(clock) {
    this.clock = clock;
    this.isStuck = false;
  }

  /**
   * @template Value
   * @param {() => Promise<Value>} work
   * @returns {Promise<Value>}
   * @throws {TransportError} `timedOut`, and the errors of the work
   */
  async run(work) {
    const seconds = this.isStuck ? secondsPerCallWhenStuck : secondsPerCall;
    try {
      const value = await limited(this.clock.uptime + seconds, this.clock, async () => work());
      this.isStuck = false;
      return value;
    } catch (error) {
      this.isStuck = error instanceof TransportError;
      throw error;
    }
  }
}

/**
 * A store whose calls end: one that takes too long is as one that cannot be read or written. So a wake goes on without
 * the store, and shows the secret.
 *
 * @implements {ClientStore}
 */
export class BoundedStore {
  /**
   * @param {import('./store.js').ClientStore} store
   * @param {import('./clock.js').ClientClock} [clock]
   */
  constructor(store, clock = new SystemClientClock()) {
    this.store = store;
    this.limit = new CallLimit(clock);
  }

  read() { return this.#run('unreadable', () => this.store.read()); }

  /**
   * @template Result
   * @param {(state: import('./state.js').ClientState) => Result} change
   * @returns {Promise<Result>}
   */
  update(change) { return this.#run('unwritable', () => this.store.update(change)); }

  credentials() { return this.#run('unreadable', () => this.store.credentials()); }

  /** @param {import('./store.js').StoredCredentials | null} credentials */
  saveCredentials(credentials) { return this.#run('unwritable', () => this.store.saveCredentials(credentials)); }

  /**
   * @param {import('./store.js').StoredCredentials} expected
   * @param {import('./store.js').StoredCredentials} credentials
   */
  replaceCredentials(expected, credentials) {
    return this.#run('unwritable', () => this.store.replaceCredentials(expected, credentials));
  }

  deviceKeys() { return this.#run('unreadable', () => this.store.deviceKeys()); }

  /** @param {(keys: import('./device-key.js').DeviceKey[]) => import('./device-key.js').DeviceKey[]} change */
  updateDeviceKeys(change) { return this.#run('unwritable', () => this.store.updateDeviceKeys(change)); }

  /** @param {import('./store.js').OpenedEnvelope} envelope */
  rememberEnvelope(envelope) { return this.#run('unwritable', () => this.store.rememberEnvelope(envelope)); }

  /**
   * @template Result
   * @param {(values: import('./store.js').StoredValues) => Result} change
   * @returns {Promise<Result>}
   */
  updateAll(change) { return this.#run('unwritable', () => this.store.updateAll(change)); }

  departures() { return this.#run('unreadable', () => this.store.departures()); }

  /** Without an answer, the notice is shown once more rather than not at all. */
  claimLockedNotice() {
    return this.#run('unwritable', () => this.store.claimLockedNotice()).catch(() => true);
  }

  /**
   * @template Value
   * @param {'unreadable' | 'unwritable'} reason
   * @param {() => Promise<Value>} work
   * @returns {Promise<Value>}
   * @throws {ClientStoreError} only these, whatever the store throws
   */
  async #run(reason, work) {
    try {
      return await this.limit.run(work);
    } catch (error) {
      if (error instanceof ClientStoreError) throw error;
      if (error instanceof TransportError) this.store.abandon?.();
      throw new ClientStoreError(reason);
    }
  }
}

/**
 * A presenter whose calls end. Only what shows something rejects: what cannot be removed, counted or listed is not.
 *
 * @implements {NotificationPresenter}
 */
export class BoundedPresenter {
  /**
   * @param {import('./presenter.js').NotificationPresenter} presenter
   * @param {import('./clock.js').ClientClock} clock
   */
  constructor(presenter, clock) {
    this.presenter = presenter;
    this.limit = new CallLimit(clock);
    /** How often something was shown. */
    this.shows = 0;
  }

  /** @param {import('./answers.js').SecretNotification} secret */
  showSecret(secret) { return this.#show(() => this.presenter.showSecret(secret)); }

  /** @param {import('./presenter.js').GenericNotice} notice */
  showNotice(notice) { return this.#show(() => this.presenter.showNotice(notice)); }

  /** @param {import('./presenter.js').LogInPrompt} prompt */
  showPrompt(prompt) { return this.#show(() => this.presenter.showPrompt(prompt)); }

  /**
   * A presenter that has no text for it removes the notification.
   *
   * @param {import('./presenter.js').BriefText} text
   */
  async withdraw(text) {
    if (!this.presenter.withdraw) {
      await this.remove([text.id]);
      return false;
    }
    const isShown = await this.limit.run(async () => this.presenter.withdraw?.(text) ?? false).catch(() => false);
    if (isShown) this.shows += 1;
    return isShown;
  }

  /** @param {import('./presenter.js').Repetition} repetition */
  showAgain(repetition) {
    return this.limit.run(async () => this.presenter.showAgain?.(repetition)).catch(() => {});
  }

  /** @param {string[]} ids */
  remove(ids) { return this.limit.run(() => this.presenter.remove(ids)).catch(() => {}); }

  removePrompt() { return this.limit.run(() => this.presenter.removePrompt()).catch(() => {}); }

  /** @param {number} count */
  setBadge(count) { return this.limit.run(() => this.presenter.setBadge(count)).catch(() => {}); }

  displayedSecrets() { return this.limit.run(() => this.presenter.displayedSecrets()).catch(() => null); }

  /** @param {() => Promise<void>} work */
  async #show(work) {
    await this.limit.run(work);
    this.shows += 1;
  }
}

/**
 * The name of the user who is logged in.
 *
 * @param {import('./client.js').SecurePushClient} client
 * @returns {Promise<string | null>}
 * @throws if it is not known now
 */
export const currentUserName = ({ clock, credentials }) => (
  limited(clock.uptime + secondsForUserName, clock, async () => credentials.userName()));
