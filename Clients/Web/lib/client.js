import { sendAnswer } from './answering.js';
import { allowsCatchUp, asksForLogIn, DiagnosticCode, SecurePushFailure } from './codes.js';
import { BoundedPresenter, BoundedStore } from './bounded.js';
import { CatchUp, secondsAfterRequests } from './catch-up.js';
import { limited, SystemClientClock, throwIfOver } from './clock.js';
import { ClaimWatch } from './claim-watch.js';
import { RetrievalConnection } from './connection.js';
import { listDevices, removeAllDevices, removeDevice } from './devices.js';
import { fetchAndShow, showNotice } from './fetching.js';
import { listInbox, markAsRead, markAsReadThrough, readSecret, reportShown } from './inbox.js';
import { SecretLedger } from './ledger.js';
import { clearScreen, finishDepartures, leave } from './log-out.js';
import { ownRegistration, WebNotificationPresenter } from './presenter.js';
import { refreshOldPushKeys } from './push-key-refresh.js';
import { adoptUser, confirmWithdrawals, receive } from './receiving.js';
import { register, renewKey } from './registration.js';
import { renewFailedRegistration, renewSubscription } from './renewal.js';
import { addReport, wakeReport } from './report.js';
import { secretOf } from './secret.js';
import { isLocked, StateKeeper } from './store.js';
import { inTime, subscribeWithServerKey } from './subscription.js';
import { TransportError } from './transport.js';

/**
 * One wake. Wakes are counted: a catch-up serves those that came before it began.
 *
 * @typedef {object} Wake
 * @property {number} number
 * @property {number} deadline the clock's uptime at which its requests end
 * @property {number} userChanges the state's when it began. The wake shows nothing after the user has changed
 * @property {boolean} isOver the time is up, and the user has seen the generic text. Later results show nothing
 * @property {boolean} isNoticed the generic text has taken the place of a secret that was about to appear
 * @property {Promise<unknown> | null} showing the secret of the push is about to appear. It rejects if it does not
 * @property {import('./report.js').WakeReport | null} report what has been decided so far
 */

/** The background sync that tells the server of log-outs. */
export const unregisterTag = 'securepush-unregister';
/** In seconds. */
const secondsForSync = 5;
/** How long a wake whose time is up waits for a secret that is about to appear, in seconds. */
const secondsToShow = 1;

/**
 * Receives secrets: verifies pushes, fetches, shows each secret once, and keeps the device registered.
 *
 * Everything that it uses is injected. Make one in the page and one in the service worker, on the same store. Members
 * other than the documented methods are for the modules beside this one.
 */
export class SecurePushClient {
  /**
   * @param {object} parts
   * @param {import('./configuration.js').SecurePushConfiguration} parts.configuration the server and the app
   * @param {import('./credentials.js').CredentialsProvider} parts.credentials the user's credentials
   * @param {import('./store.js').ClientStore} parts.store the memory between wakes
   * @param {import('./transport.js').Transport} parts.transport sends the requests
   * @param {import('./clock.js').ClientClock} [parts.clock] the time
   * @param {import('./presenter.js').NotificationPresenter} [parts.presenter] shows the notifications
   * @param {Crypto} [parts.crypto] Web Crypto
   * @param {import('./events.js').ClientEvents} [parts.events] tells pages and the worker of each other's changes
   */
  constructor({
    configuration, credentials, store, transport, clock = new SystemClientClock(),
    presenter = new WebNotificationPresenter(), crypto = globalThis.crypto, events = undefined,
  }) {
    this.configuration = configuration;
    this.limits = configuration.limits;
    this.credentials = credentials;
    this.store = new BoundedStore(store, clock);
    this.clock = clock;
    this.presenter = new BoundedPresenter(presenter, clock);
    this.crypto = crypto;
    this.events = events;
    this.keeper = new StateKeeper(this.store, configuration.limits);
    this.connection = new RetrievalConnection({
      baseURL: configuration.retrievalURL, limits: configuration.limits, credentials, transport, clock,
    });
    /** Names this client in the claims of the store. Another page or worker has another name. */
    this.process = globalThis.crypto.randomUUID();
    /** The notifications that are being fetched or shown now. */
    this.inFlight = new Set();
    this.claimWatch = new ClaimWatch(clock, this.limits.claimSeconds);
    /** @type {() => Promise<PushManager>} */
    this.pushManager = async () => (await ownRegistration()).pushManager;
    this.repeatLater = async () => {
      const { sync } = /** @type {any} */ (await inTime(async () => ownRegistration(), secondsForSync));
      await sync?.register(unregisterTag);
    };
    /** What one wake does for all, by its name. */
    this.running = new Set();
    /** @type {Promise<unknown>} the last registration or unregistration */
    this.lastRegistration = Promise.resolve();
    /** @type {Promise<unknown>} the last try to tell the server of log-outs */
    this.lastDeparture = Promise.resolve();
    this.wakes = 0;
    this.catchUps = new CatchUp(this);
  }

  /**
   * Handles a push: fetches and shows the secret, and then the inbox after the last known notification. A withdrawal
   * removes the notification from the screen.
   *
   * It never rejects: if there is no secret, the user sees the generic text or the prompt, and the report says why.
   *
   * @param {import('./push.js').IncomingPush} push
   * @returns {Promise<import('./report.js').WakeReport>} after at most `limits.secondsInTotal`
   */
  async handle(push) {
    if (!push.isSecurePush) return wakeReport({ code: DiagnosticCode.malformedPush });
    const wake = this.begin();
    try {
      return await this.#untilEnd(wake, () => this.#handle(push, wake));
    } catch (error) {
      return this.#endEarly(push.id, wake, error);
    }
  }

  /**
   * @param {import('./push.js').IncomingPush} push
   * @param {Wake} wake
   */
  async #handle(push, wake) {
    const reception = await receive(this, push, wake);
    let report;
    switch (reception.kind) {
      case 'locked': return this.showLockedNotice();
      case 'ignored':
        // Such as a push for the user who has logged out without a network.
        await finishDepartures(this, wake.deadline);
        return wakeReport({ code: reception.code });
      case 'unverified':
        // The signature is made for the user, whose name cannot be read now.
        await showNotice(this, push.id, DiagnosticCode.credentials);
        return wakeReport({
          result: 'failed', waiting: push.id === null ? [] : [push.id], code: DiagnosticCode.credentials,
        });
      case 'unusable':
        await showNotice(this, null, DiagnosticCode.malformedPush);
        return wakeReport({ result: 'failed', code: DiagnosticCode.malformedPush });
      case 'withdrawn':
        report = wakeReport({ result: 'newData' });
        wake.report = report;
        addReport(report, await this.catchUps.run(wake));
        break;
      case 'settled':
        report = wakeReport();
        wake.report = report;
        addReport(report, await this.catchUps.run(wake));
        break;
      default:
        report = await fetchAndShow(this, reception.id, wake);
        wake.report = report;
        if (allowsCatchUp(report.code)) addReport(report, await this.catchUps.run(wake));
    }
    await this.#end(wake);
    return report;
  }

  /**
   * Fetches the inbox and everything that waits, and removes the prompt unless the user has to log in. Call it when the
   * page opens and when it becomes visible.
   *
   * @returns {Promise<import('./report.js').WakeReport>} after at most `limits.secondsInTotal`
   */
  async catchUp() {
    const wake = this.begin();
    try {
      return await this.#untilEnd(wake, () => this.#catchUp(wake));
    } catch (error) {
      wake.isOver = true;
      return wake.report ?? wakeReport({ result: 'failed', code: codeOf(error) });
    }
  }

  /** @param {Wake} wake */
  async #catchUp(wake) {
    try {
      wake.userChanges = (await adoptUser(this)).changes;
    } catch (error) {
      if (!isLocked(error)) throw error;
      return this.showLockedNotice();
    }
    const report = await this.catchUps.run(wake);
    wake.report = report;
    if (!asksForLogIn(report.code) && report.code !== DiagnosticCode.locked) {
      await this.keeper.tryUpdate(null, (_, state) => { state.isPrompted = false; });
      await this.presenter.removePrompt();
    }
    await this.#end(wake);
    return report;
  }

  /**
   * Shows everything that waits for the log-in, and removes the prompt. Call it after the user has logged in.
   *
   * If another user has logged in, the notifications of the last one are forgotten and removed from the screen.
   *
   * @returns {Promise<import('./report.js').WakeReport>} after at most `limits.secondsInTotal`
   */
  resumeAfterLogIn() { return this.catchUp(); }

  /**
   * The notifications that wait: those behind the prompt, and those that could not be fetched yet; oldest first.
   *
   * @returns {Promise<string[]>}
   */
  async waiting() {
    const state = await this.keeper.tryRead();
    return state ? this.ledger(state).waiting : [];
  }

  /**
   * Registers the device for the user who is logged in, unless that is done: again when the subscription, the tags or
   * the user change, and when `limits.renewsRegistrationAfter` has passed. Call it each time the page opens.
   *
   * The installation's ID is kept. When the server has given it up (410), or it belongs to another user (404), the
   * client makes a new one, and also for an endpoint of which `renewSubscription` knows nothing: the state may be that
   * of another device, from a backup. Calls at the same time run one after another.
   *
   * With `encryptsEndToEnd`, each call registers the device's public key too: the server forgets it when an installation is
   * replaced. If the server may not have it, the call rejects with a failure that has the `installationID`: the device
   * is registered, and receives what is not encrypted. The end of the next wake and the next call send the key again.
   *
   * @param {import('./subscription.js').PushDevice} device
   * @returns {Promise<string>} the installation's ID
   * @throws {import('./codes.js').SecurePushFailure}
   */
  async register(device) {
    const id = await this.#afterLastRegistration((wake) => register(this, device, wake));
    // Another page has unregistered the device, and the user logs out.
    if (id === null) throw new SecurePushFailure(DiagnosticCode.loggedOut);
    return id;
  }

  /**
   * Subscribes with the server's key, again if it has changed, and registers the device. Call it each time the page
   * opens, with the permission to show notifications.
   *
   * @param {{tags?: string[], timeout?: number}} [options] as those of `subscribeToPush`, whose errors it throws too
   * @returns {Promise<string>} the installation's ID
   * @throws {import('./codes.js').SecurePushFailure} `SP-404`: the server has no key for web apps
   */
  async subscribe(options = {}) { return this.register(await subscribeWithServerKey(this, options)); }

  /**
   * Registers the device again after the browser has changed or ended the subscription, with the tags of the last
   * registration. It does nothing if the device is not registered. A failure is repeated at the end of the next wake.
   *
   * @param {PushSubscription | null} [subscription] the new one; `null`: the browser has it, or makes it
   * @param {PushSubscriptionOptions | null} [options] those of the last one, if they are known
   * @param {number} [deadline] the clock's uptime
   * @param {boolean} [onlyIfFailed] not if the last registration has succeeded by now
   * @throws {import('./codes.js').SecurePushFailure}
   */
  renewSubscription(subscription = null, options = null, deadline = Infinity, onlyIfFailed = false) {
    return this.#afterLastRegistration(
      (wake) => renewSubscription(this, wake, subscription, options, onlyIfFailed), deadline);
  }

  /**
   * Logs the user out, also without a network: forgets the user's notifications, the registration, the key and the
   * credentials in one step, clears the screen, and then removes the installation and ends the session at the server.
   * What the server is not told now it is told at a later start, wake or {@link finishLogOut}, for at most a day; another
   * user's log-in does not wait for it. An app with a session of its own ends it after this.
   *
   * @returns {Promise<boolean>} whether the server knows; after a few seconds
   * @throws {import('./store.js').ClientStoreError} if nothing can be stored: the user is still logged in
   */
  logOut() { return this.#leave(true); }

  /**
   * Ends the registration, as `logOut` does, without the log-out: the device gets no more pushes, and the user's
   * notifications and the key are forgotten. It does not fail without a network.
   *
   * @returns {Promise<boolean>} whether the server knows; after a few seconds
   * @throws {import('./store.js').ClientStoreError} if nothing can be stored
   */
  unregister() { return this.#leave(false); }

  /**
   * Tells the server of log-outs that it does not know of. Wakes do it, too: call it where nobody is logged in, when the
   * page opens and when the network is back.
   *
   * @returns {Promise<boolean>} whether the server knows of all
   */
  async finishLogOut() {
    await clearScreen(this);
    return finishDepartures(this, this.begin().deadline);
  }

  /** @param {boolean} endsSession */
  async #leave(endsSession) {
    const { deadline } = this.begin();
    await leave(this, endsSession);
    if (endsSession) this.events?.send({ kind: 'session' });
    const isKnown = await finishDepartures(this, deadline);
    // The browser wakes the worker when the network is back, where it has such a thing.
    if (!isKnown) this.repeatLater().catch(() => {});
    return isKnown;
  }

  /**
   * Marks notifications as read without fetching them, removes them from the screen, and sets the badge.
   *
   * @param {string[]} ids unknown IDs change nothing
   * @throws {import('./codes.js').SecurePushFailure}
   */
  markAsRead(ids) { return markAsRead(this, ids); }

  /**
   * Marks all notifications up to this one as read, and sets the badge.
   *
   * @param {string} id
   * @throws {import('./codes.js').SecurePushFailure}
   */
  markAsReadThrough(id) { return markAsReadThrough(this, id); }

  /**
   * A page of the inbox, oldest first, for a list in the app. It shows nothing, and marks nothing as read; with
   * `withSecrets` it has the secrets, at most 20, which then count as read.
   *
   * @param {{after?: string | null, unreadOnly?: boolean, withSecrets?: boolean}} [options]
   * @returns {Promise<import('./inbox.js').AppPage>}
   * @throws {import('./codes.js').SecurePushFailure}
   */
  inbox(options = {}) { return listInbox(this, options); }

  /**
   * Fetches one secret for a view of the app, and decrypts it. It counts as read; nothing is shown or remembered.
   *
   * @param {string} id
   * @returns {Promise<import('./answers.js').SecretNotification>}
   * @throws {import('./codes.js').SecurePushFailure}
   */
  read(id) { return readSecret(this, id); }

  /**
   * Fetches the secret of a push for an app that shows it by itself. It counts as shown, and no other notification is
   * fetched. A withdrawal removes the notification from the screen.
   *
   * @param {import('./push.js').IncomingPush} push
   * @returns {Promise<import('./answers.js').SecretNotification | null>} `null`: it was shown or withdrawn before, or the
   *   push is a withdrawal
   * @throws {import('./codes.js').SecurePushFailure} after at most `limits.secondsInTotal`
   */
  async secret(push) {
    const wake = this.begin();
    try {
      return await this.#untilEnd(wake, () => secretOf(this, push, wake));
    } catch (error) {
      throw error instanceof SecurePushFailure ? error : new SecurePushFailure(codeOf(error));
    }
  }

  /**
   * Answers a notification whose sender asked for it, once and for all of the user's devices. It counts as read then, and
   * leaves the screen.
   *
   * @param {string} id
   * @param {string} action one of those that the sender allows, such as the ID of an action of the message
   * @param {{text?: string, challenge?: string}} [more] `text` has at most 2,000 bytes; `challenge` is what the user sees
   *   elsewhere and types here
   * @throws {import('./codes.js').SecurePushFailure} `SP-409`: it has another answer. `SP-410`: it is over, also after too
   *   many wrong challenges. `SP-422`: the challenge is wrong or missing, or the sender did not ask for this action
   */
  answer(id, action, more = {}) { return sendAnswer(this, id, action, more); }

  /**
   * The user's devices, in the order of their IDs.
   *
   * @returns {Promise<import('./devices.js').UserDevice[]>}
   * @throws {import('./codes.js').SecurePushFailure}
   */
  devices() { return listDevices(this); }

  /**
   * Removes one of the user's devices, such as one that was lost: it gets no more pushes. Its session ends when its token
   * expires. For this device it is `unregister`.
   *
   * @param {string} id the installation's ID
   * @returns {Promise<void>}
   * @throws {import('./codes.js').SecurePushFailure}
   */
  removeDevice(id) { return removeDevice(this, id); }

  /**
   * Removes all of the user's devices at the server, and logs the user out here. No other device gets pushes until it
   * registers again, which its session still allows until its token expires.
   *
   * @throws {import('./codes.js').SecurePushFailure} if the server does not confirm it. Then nothing has changed here
   */
  async signOutEverywhere() {
    await this.#afterLastRegistration(async ({ deadline }) => removeAllDevices(this, deadline));
    await this.logOut();
  }

  /**
   * The fingerprint of the device's key for end-to-end encryption, for users who compare it with the sender's: 8 groups
   * of 4 hexadecimal digits.
   *
   * @returns {Promise<string | null>} `null` if the device has no key
   * @throws {import('./store.js').ClientStoreError} if the store cannot be read now
   */
  async encryptionKeyFingerprint() {
    const [newest] = await this.store.deviceKeys();
    return newest ? newest.fingerprint(this.crypto) : null;
  }

  // For the modules beside this one.

  /** @param {import('./state.js').ClientState} state */
  ledger(state) { return new SecretLedger(state.entries, this.limits); }

  /** @returns {Wake} */
  begin() {
    this.wakes += 1;
    const deadline = this.clock.uptime + this.limits.secondsInTotal - secondsAfterRequests;
    return {
      number: this.wakes, deadline, userChanges: 0, isOver: false, isNoticed: false, showing: null, report: null,
    };
  }

  /**
   * Whether the user is still the one for whom the wake began. A damaged state begins at 0 again.
   *
   * @param {Wake} wake
   */
  async isCurrent({ userChanges }) { return ((await this.keeper.tryRead())?.userChanges ?? 0) <= userChanges; }

  /**
   * Does something, unless another wake does the same now: that one does it for all.
   *
   * @param {string} name
   * @param {() => Promise<void>} work
   */
  async once(name, work) {
    if (this.running.has(name)) return;
    this.running.add(name);
    try {
      await work();
    } finally {
      this.running.delete(name);
    }
  }

  /**
   * Runs registrations and unregistrations one after another, so that the stored record is that of the last request.
   *
   * @template Result
   * @param {(wake: Wake) => Promise<Result>} work
   * @param {number} [deadline]
   * @returns {Promise<Result>}
   */
  #afterLastRegistration(work, deadline = Infinity) {
    const next = this.lastRegistration.then(() => {
      const wake = this.begin();
      wake.deadline = Math.min(wake.deadline, deadline);
      throwIfOver(wake.deadline, this.clock);
      return this.#untilEnd(wake, () => work(wake));
    }).catch((error) => { throw error instanceof TransportError ? new SecurePushFailure(codeOf(error)) : error; });
    this.lastRegistration = next.catch(() => {});
    return next;
  }

  /**
   * Returns at the end of the wake, whatever the browser does.
   *
   * @template Result
   * @param {Wake} wake
   * @param {() => Promise<Result>} work
   * @returns {Promise<Result>}
   * @throws {TransportError} `timedOut`, and the errors of the work
   */
  #untilEnd({ deadline }, work) {
    // What ends with the wake is still its result.
    return limited(deadline + 2 * secondsAfterRequests, this.clock, async () => work());
  }

  /**
   * Ends a wake whose time is up: the user sees the generic text, unless it is decided.
   *
   * @param {string | null} id
   * @param {Wake} wake
   * @param {unknown} error
   */
  async #endEarly(id, wake, error) {
    wake.isOver = true;
    if (wake.report) return wake.report;
    const code = codeOf(error);
    const { clock } = this;
    const isShown = wake.showing && await limited(clock.uptime + secondsToShow, clock, async () => wake.showing).then(
      () => true, () => false);
    if (isShown && id !== null) return wakeReport({ result: 'newData', shown: [id], code });
    wake.isNoticed = true;
    await showNotice(this, id, code);
    return wakeReport({ result: 'failed', waiting: id === null ? [] : [id], code });
  }

  /**
   * Reports shown notifications to the server, confirms withdrawals that came in the meantime, reads the server's keys
   * for pushes if those that are stored are old, repeats a registration that failed, and replaces an old key.
   *
   * @param {Wake} wake
   */
  async #end({ deadline }) {
    await reportShown(this, deadline);
    await confirmWithdrawals(this, deadline);
    await refreshOldPushKeys(this, deadline);
    await renewFailedRegistration(this, deadline);
    await renewKey(this, deadline);
    await finishDepartures(this, deadline);
    this.events?.send({ kind: 'wake' });
  }

  /** Shows that messages may be waiting, once per start of the device. */
  async showLockedNotice() {
    if (await this.store.claimLockedNotice()) {
      await showNotice(this, null, DiagnosticCode.locked, this.configuration.texts.locked);
    }
    return wakeReport({ result: 'failed', code: DiagnosticCode.locked });
  }

  /** @param {number} count */
  setBadge(count) { return this.presenter.setBadge(count); }
}

/** @param {unknown} error that has ended a wake early */
const codeOf = (error) => (error instanceof TransportError ? DiagnosticCode.timedOut : DiagnosticCode.malformedPush);
