/**
 * The service worker's part: gives the events of a service worker to the client.
 *
 * @module securepush-worker
 */
import { unregisterTag } from './lib/client.js';
import { asksForLogIn, DiagnosticCode, SecurePushFailure } from './lib/codes.js';
import { isOurs } from './lib/presenter.js';
import { isPushID, IncomingPush } from './lib/push.js';
import { inTime } from './lib/subscription.js';

/** The background sync that repeats a registration. */
const syncTag = 'securepush-register';
/** In seconds. */
const secondsForSync = 5;
/** The ends of pushes that are not genuine, or whose notification is not for this user. */
const isNothing = new Set([
  DiagnosticCode.badSignature, DiagnosticCode.tooOld, ...[403, 404, 410].map(DiagnosticCode.status),
]);

/**
 * Whether a link of a message may be opened without a question.
 *
 * @param {unknown} link
 * @param {string} scope
 */
function isOwnLink(link, scope) {
  try {
    const url = new URL(/** @type {string} */ (link));
    return url.protocol === 'https:' && url.origin === new URL(scope).origin;
  } catch {
    return false;
  }
}

/**
 * Handles `push`, `notificationclick`, `pushsubscriptionchange` and `sync`.
 *
 * ```js
 * import { PushWorker } from './securepush/securepush-worker.js';
 * import { client } from './client.js';
 *
 * new PushWorker({ scope: self, client }).attach();
 * ```
 */
export class PushWorker {
  /**
   * @param {object} options
   * @param {any} options.scope the `ServiceWorkerGlobalScope`
   * @param {import('./lib/client.js').SecurePushClient} options.client
   * @param {string} [options.page] the page that a click opens, relative to the worker's scope
   * @param {(event: any) => Promise<void>} [options.onForeignPush] handles pushes without `secureId`, which belong to
   *   another part of the app
   * @param {boolean} [options.acceptsPagePushes] whether a page of the app may hand over pushes, by a message
   *   `{kind: 'securepush.push', text}`. For a page that listens to the hub emulator in place of a push service
   */
  constructor({ scope, client, page = './', onForeignPush = undefined, acceptsPagePushes = false }) {
    this.scope = scope;
    this.client = client;
    this.page = page;
    this.onForeignPush = onForeignPush;
    this.acceptsPagePushes = acceptsPagePushes;
    if (scope) client.pushManager = async () => scope.registration.pushManager;
  }

  /** Adds the listeners. Call it while the worker's script runs for the first time: later ones miss events. */
  attach() {
    const { scope } = this;
    scope.addEventListener('push', (/** @type {any} */ event) => event.waitUntil(this.onPush(event)));
    scope.addEventListener('notificationclick', (/** @type {any} */ event) => event.waitUntil(this.onClick(event)));
    scope.addEventListener('pushsubscriptionchange', (/** @type {any} */ event) => {
      event.waitUntil(this.onSubscriptionChange(event));
    });
    scope.addEventListener('sync', (/** @type {any} */ event) => {
      // The browser repeats the event later if this rejects.
      if (event.tag === syncTag) event.waitUntil(this.client.renewSubscription());
      if (event.tag === unregisterTag) event.waitUntil(this.#finishLogOut());
    });
    scope.addEventListener('message', (/** @type {any} */ event) => {
      const { data } = event;
      if (!this.acceptsPagePushes || data?.kind !== 'securepush.push' || typeof data.text !== 'string') return;
      event.waitUntil(this.handle(IncomingPush.fromText(data.text)));
    });
  }

  async #finishLogOut() {
    if (!await this.client.finishLogOut()) throw new Error('The server does not know of a log-out yet.');
  }

  /** @param {any} event a `PushEvent` */
  async onPush(event) {
    const push = IncomingPush.fromEvent(event);
    if (!push.isSecurePush) await this.onForeignPush?.(event);
    else await this.handle(push);
  }

  /**
   * Handles a push. It never rejects, and ends within the client's time.
   *
   * @param {IncomingPush} push
   * @returns {Promise<import('./lib/report.js').WakeReport | null>} `null` after an unexpected error
   */
  async handle(push) {
    const { shows } = this.client.presenter;
    try {
      const report = await this.client.handle(push);
      if (this.client.presenter.shows === shows) await this.#showAgain(push, report);
      return report;
    } catch {
      // The user sees the generic text in place of whatever was to come.
      const localizationKey = this.client.configuration.texts.generic;
      const notice = { id: push.id, localizationKey, code: DiagnosticCode.malformedPush };
      await this.client.presenter.showNotice(notice).catch(() => {});
      return null;
    }
  }

  /**
   * Shows what the user has seen already of the notification of a push, or a brief text: browsers end a subscription
   * whose pushes show nothing. For a push that is not genuine, and one whose notification is not for this user, the text
   * says that there is nothing new.
   *
   * @param {IncomingPush} push
   * @param {import('./lib/report.js').WakeReport} report
   */
  async #showAgain({ id, isWithdrawal }, { waiting, code }) {
    const { generic, logIn, withdrawn, repeated, nothingNew } = this.client.configuration.texts;
    if (id === null || isNothing.has(code ?? '')) {
      await this.client.presenter.showAgain({ id: null, localizationKey: nothingNew, code, kind: 'brief' });
      return;
    }
    const [kind, localizationKey] = !waiting.includes(id) ? ['brief', isWithdrawal ? withdrawn : repeated]
      : asksForLogIn(code) ? ['prompt', logIn] : ['notice', generic];
    await this.client.presenter.showAgain({ id, localizationKey, code, kind: /** @type {any} */ (kind) });
  }

  /**
   * Answers by the button that was clicked, if the message has one that needs no text. Otherwise it opens the link of the
   * message, if that is an address of this origin, or the app at the notification: its page if that is open, or any other
   * window of the app, or a new one.
   *
   * @param {any} event a `NotificationEvent`
   */
  async onClick(event) {
    const { notification, action: name = '' } = event;
    if (!isOurs(notification)) return;
    const { secureId, actions = [], link } = notification.data;
    const id = isPushID(secureId) ? secureId : null;
    const action = actions.find((/** @type {any} */ known) => known.id === name);
    if (id !== null && action && !action.takesText && await this.#answer(id, action.id)) return;
    notification.close();
    const { scope } = this.scope.registration;
    if (!action && isOwnLink(link, scope)) {
      await this.scope.clients.openWindow(link);
      return;
    }
    const url = new URL(this.page, scope);
    // A page that was loaded before the worker was there, or past it, is not controlled.
    const windows = (await this.scope.clients.matchAll({ type: 'window', includeUncontrolled: true }))
      .filter((/** @type {any} */ client) => client.url.startsWith(scope));
    const isPage = (/** @type {any} */ client) => client.url.split('#')[0] === url.href.split('#')[0];
    const open = windows.find(isPage) ?? windows[0];
    if (open) {
      await open.focus().catch(() => {});
      this.client.events?.send({ kind: 'open', id });
      return;
    }
    if (id) url.hash = id;
    await this.scope.clients.openWindow(url.href);
  }

  /**
   * Answers a notification by one of its buttons.
   *
   * @param {string} id
   * @param {string} action
   * @returns {Promise<boolean>} `false`: the sender wants more than that, so the app is to be opened
   */
  async #answer(id, action) {
    const { client } = this;
    try {
      await client.answer(id, action);
      return true;
    } catch (error) {
      const code = error instanceof SecurePushFailure ? error.code : DiagnosticCode.malformedPush;
      if (code === DiagnosticCode.status(422)) return false;
      const localizationKey = client.configuration.texts.unanswered;
      await client.presenter.showNotice({ id, localizationKey, code }).catch(() => {});
      return true;
    }
  }

  /**
   * The browser has replaced or ended the subscription: the server gets the new one, with the tags of the last one, if
   * the device is registered. Without a connection that is repeated at the next wake of the worker or the page, and by
   * a background sync where the browser has one.
   *
   * @param {any} event a `PushSubscriptionChangeEvent`
   */
  async onSubscriptionChange(event) {
    try {
      await this.client.renewSubscription(event.newSubscription ?? null, event.oldSubscription?.options ?? null);
    } catch {
      await inTime(async () => this.scope.registration.sync?.register(syncTag), secondsForSync).catch(() => {});
    }
  }
}
