import { isPushID } from './push.js';

/**
 * Shows notifications to the user. {@link WebNotificationPresenter} is the one for browsers.
 *
 * Everything is shown under an identifier, and replaces what was shown under the same one: secrets and generic texts
 * use the notification's ID, the prompt and the notices without an ID use one identifier each.
 *
 * @typedef {object} NotificationPresenter
 * @property {(secret: import('./answers.js').SecretNotification) => Promise<void>} showSecret shows its `text`, which is
 *   not `null`; rejects if it was not shown. The client tries again at the next wake
 * @property {(notice: GenericNotice) => Promise<void>} showNotice
 * @property {(prompt: LogInPrompt) => Promise<void>} showPrompt
 * @property {(ids: string[]) => Promise<void>} remove removes the secrets and generic texts of these IDs, and no others
 * @property {() => Promise<void>} removePrompt
 * @property {(count: number) => Promise<void>} setBadge sets the number on the app's icon
 * @property {() => Promise<Set<string> | null>} displayedSecrets the IDs whose secrets (not generic texts) the user
 *   can see now; `null` if that is not known. The client asks after a crash, for a secret that it may have shown
 * @property {(text: BriefText) => Promise<boolean>} [withdraw] puts a text in the place of what the user sees of a
 *   withdrawn notification, and removes it later; `false` if the user sees nothing of it. Without this method, `remove`
 *   is called
 * @property {(repetition: Repetition) => Promise<void>} [showAgain] shows again, without a sound, what the user has
 *   seen of a notification
 */

/**
 * The text that is shown in place of a secret that cannot be had now, or that only the app shows (its code is `null`). The
 * ID is `null` when the push had none that can be used.
 *
 * @typedef {{id: string | null, localizationKey: string, code: string | null}} GenericNotice
 */

/**
 * The text that asks the user to log in, and the notifications that wait for it, oldest first.
 *
 * @typedef {{ids: string[], localizationKey: string, code: string}} LogInPrompt
 */

/**
 * A text that goes by itself.
 *
 * @typedef {{id: string, localizationKey: string}} BriefText
 */

/**
 * A push that has shown nothing new. If the user does not see its notification any more, the text is shown: for good
 * if the notification or the prompt still waits, otherwise briefly. The ID is `null`, and the kind `brief`, for a push
 * that is not genuine or not for this user.
 *
 * @typedef {{id: string | null, localizationKey: string, code: string | null, kind: 'notice' | 'prompt' | 'brief'}} Repetition
 */

/** The texts in English. `%@` becomes the code. */
export const englishTexts = Object.freeze({
  'securepush.generic': 'You have a new message. Open the app to read it. (%@)',
  'securepush.log-in': 'You have a new message. Log in to read it. (%@)',
  'securepush.locked': 'You may have new messages. Unlock your device to read them.',
  'securepush.withdrawn': 'This message was withdrawn.',
  'securepush.repeated': 'You have this message already. Open the app to read it again.',
  'securepush.nothing-new': 'There is no new message.',
  'securepush.hidden': 'You have a new message. Open the app to read it.',
  'securepush.answered': 'Your answer was sent.',
  'securepush.unanswered': 'Your answer was not sent. Open the app to answer. (%@)',
});

/** The registration of this worker, or of the worker that serves this page. */
export const ownRegistration = () => ('ServiceWorkerGlobalScope' in globalThis
  ? /** @type {any} */ (globalThis).registration : globalThis.navigator.serviceWorker.ready);

/** Browsers cut longer texts; the app shows the whole one. In characters. */
const maxBodyLength = 1_000;
const promptTag = 'securepush-log-in';
const noticeTag = 'securepush-notice';
const briefTag = 'securepush-brief';
/**
 * How long a brief text is shown, in seconds. Browsers end a subscription whose pushes show nothing, and look when the
 * worker has handled the push.
 */
const secondsOfBriefText = 5;
/** Nobody is told a second time. */
const silently = Object.freeze({ renotify: false, silent: true });

/**
 * Shows notifications by `ServiceWorkerRegistration.showNotification`, and the badge by the Badging API.
 *
 * @implements {NotificationPresenter}
 */
export class WebNotificationPresenter {
  /**
   * @param {object} options
   * @param {string} [options.title] the app's name, the title of every notification. By default the host of the page
   * @param {Record<string, string>} [options.texts] by localisation key
   * @param {NotificationOptions} [options.options] such as `icon`, `badge` and `lang`
   * @param {() => ServiceWorkerRegistration | Promise<ServiceWorkerRegistration>} [options.registration] by default the
   *   one of this worker or page
   * @param {Navigator} [options.navigator]
   */
  constructor({
    title = globalThis.location?.hostname ?? '', texts = englishTexts, options = {}, registration = ownRegistration,
    navigator = globalThis.navigator,
  } = {}) {
    this.registration = registration;
    this.title = title;
    this.texts = texts;
    this.options = options;
    this.navigator = /** @type {any} */ (navigator);
  }

  /**
   * Shows a secret with what its message says: the title, the level, the first actions, and the link for a click. Web
   * notifications have no groups: one with the tag of a thread would replace the messages before it.
   *
   * @param {import('./answers.js').SecretNotification} secret
   */
  async showSecret({ id, text, message }) {
    const body = cut(text ?? '');
    const actions = (message?.actions ?? []).slice(0, maxActions());
    await this.#show(id, body, {
      kind: 'secret', secureId: id, link: message?.link ?? undefined,
      actions: actions.map((action) => ({ id: action.id, takesText: action.takesText })),
    }, {
      ...(message?.title ? { title: message.title } : {}),
      ...(message?.level === 'passive' ? { silent: true } : {}),
      ...(message?.level === 'time-sensitive' ? { requireInteraction: true } : {}),
      ...(actions.length > 0 ? { actions: actions.map((action) => ({ action: action.id, title: action.title })) } : {}),
    });
  }

  /** @param {GenericNotice} notice */
  async showNotice({ id, localizationKey, code }) {
    await this.#show(id ?? noticeTag, this.#text(localizationKey, code ?? ''), { kind: 'notice', secureId: id, code });
  }

  /** @param {LogInPrompt} prompt */
  async showPrompt({ localizationKey, code }) {
    // It replaces the last prompt, and the user is told again: there is something new behind it.
    await this.#show(promptTag, this.#text(localizationKey, code), { kind: 'prompt', code }, { renotify: true });
  }

  /** @param {string[]} ids */
  async remove(ids) {
    const wanted = new Set(ids);
    await this.#close((data) => wanted.has(data.secureId));
  }

  async removePrompt() {
    await this.#close((data) => data.kind === 'prompt' || (data.kind === 'notice' && !data.secureId));
  }

  /** @param {number} count */
  async setBadge(count) {
    try {
      if (count > 0) await this.navigator.setAppBadge?.(count);
      else await this.navigator.clearAppBadge?.();
    } catch {
      // Not every browser has badges, and only installed apps show them.
    }
  }

  async displayedSecrets() {
    try {
      const shown = await this.#shown();
      return new Set(shown.filter(({ data }) => data.kind === 'secret').map(({ data }) => data.secureId));
    } catch {
      return null;
    }
  }

  /** @param {BriefText} text */
  async withdraw({ id, localizationKey }) {
    const isShown = (await this.#shown()).some(({ data }) => data.secureId === id);
    if (isShown) await this.#showBriefly(id, localizationKey);
    return isShown;
  }

  /** @param {Repetition} repetition */
  async showAgain({ id, localizationKey, code, kind }) {
    const shown = await this.#shown();
    const last = shown.find(({ data }) => id !== null && data.secureId === id)
      ?? (kind === 'prompt' ? shown.find(({ data }) => data.kind === kind) : undefined);
    if (last) {
      const { title, body, tag, data, requireInteraction, actions = undefined } = /** @type {any} */ (last);
      const registration = await this.registration();
      await registration.showNotification(
        title, { ...this.options, requireInteraction, actions, ...silently, body, tag, data });
    } else if (kind === 'brief') {
      await this.#showBriefly(id, localizationKey);
    } else {
      const [tag, secureId] = kind === 'prompt' ? [promptTag, undefined] : [id ?? noticeTag, id];
      await this.#show(tag, this.#text(localizationKey, code ?? ''), { kind, secureId, code }, silently);
    }
  }

  /**
   * @param {string | null} id
   * @param {string} localizationKey
   */
  async #showBriefly(id, localizationKey) {
    const until = Date.now() + secondsOfBriefText * 1000;
    await this.#show(
      id ?? briefTag, this.#text(localizationKey, ''), { kind: 'brief', secureId: id, until }, silently);
    // After the event of the push. If the browser has ended the worker by then, the next wake or visit closes it.
    const timer = /** @type {any} */ (setTimeout(() => this.#shown().catch(() => {}), until - Date.now() + 50));
    timer.unref?.();
  }

  /**
   * @param {string} tag
   * @param {string} body
   * @param {object} data
   * @param {{title?: string} & NotificationOptions} [options]
   */
  async #show(tag, body, data, options = {}) {
    const { title = this.title, ...more } = options;
    const registration = await this.registration();
    await registration.showNotification(title, {
      ...this.options, ...more, body, tag, data: { ...data, securePush: 1 },
    });
  }

  /** Our notifications that the user sees, without brief texts. Those whose time is over are closed. */
  async #shown() {
    const registration = await this.registration();
    const shown = (await registration.getNotifications()).filter(isOurs);
    for (const notification of shown) if (notification.data.until < Date.now()) notification.close();
    return shown.filter(({ data }) => data.kind !== 'brief');
  }

  /** @param {(data: any) => boolean} isWanted */
  async #close(isWanted) {
    try {
      for (const notification of await this.#shown()) if (isWanted(notification.data)) notification.close();
    } catch {
      // What cannot be listed cannot be removed.
    }
  }

  /**
   * @param {string} key
   * @param {string} code
   */
  #text(key, code) {
    return (this.texts[key] ?? englishTexts[/** @type {keyof typeof englishTexts} */ (key)] ?? key).replace('%@', code);
  }
}

/** @param {string} text */
const cut = (text) => (text.length > maxBodyLength ? `${text.slice(0, maxBodyLength)}…` : text);

/** How many actions the browser shows. */
const maxActions = () => /** @type {any} */ (globalThis.Notification)?.maxActions ?? 0;

/**
 * Whether a notification is of this SDK: its own, or one that the browser has shown of a declarative message.
 *
 * @param {{data?: any}} notification
 * @returns {boolean}
 */
export const isOurs = ({ data }) => data?.securePush === 1 || isPushID(data?.secureId);
