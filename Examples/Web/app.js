// The page: log in, permission, messages, log out.
import { client, credentials, events } from './client.js';
import * as config from './config.js';
import { DevicesView } from './devices-view.js';
import { EmulatedDisplay, emulatedDevice, listen } from './emulator.js';
import { InboxView } from './inbox-view.js';
import { keepShell } from './shell.js';
import { failureText, language, text } from './texts.js';

const byId = (id) => document.getElementById(id);
const show = (id, isShown) => { byId(id).hidden = !isShown; };

/** The only script that this page may start (Trusted Types). */
const worker = globalThis.trustedTypes
  ?.createPolicy('app', { createScriptURL: (url) => (url === './sw.js' ? url : '') })
  .createScriptURL('./sw.js') ?? './sw.js';

class App {
  async start() {
    document.documentElement.lang = language;
    for (const element of document.querySelectorAll('[data-text]')) element.textContent = text(element.dataset.text);
    byId('views').setAttribute('aria-label', text(byId('views').dataset.label));
    if (!('serviceWorker' in navigator) || !('Notification' in globalThis)) {
      show('unsupported', true);
      return;
    }
    await navigator.serviceWorker.register(worker, { type: 'module', updateViaCache: 'none' });
    this.registration = await navigator.serviceWorker.ready;
    this.inbox = new InboxView(client, (message) => this.tell(message));
    this.devices = new DevicesView(client, (message) => this.tell(message));
    this.view('messages');
    this.unread = 0;
    this.#addListeners();
    keepShell(this.registration.scope).catch(() => {});
    if (!navigator.onLine) this.sayFailure();
    await this.enter();
  }

  #addListeners() {
    byId('log-in-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.logIn();
    });
    byId('log-out').addEventListener('click', () => this.logOut());
    byId('allow').addEventListener('click', () => this.allow());
    byId('mark-all').addEventListener('click', () => this.markAll());
    byId('views').addEventListener('click', ({ target }) => { if (target.dataset.view) this.view(target.dataset.view); });
    byId('entries').addEventListener('message-read', () => this.showUnread(this.unread - 1));
    byId('entries').addEventListener('session-end', () => this.showLogIn());
    byId('devices').addEventListener('signed-out', () => this.showLogIn('logInText'));
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.enter();
    });
    addEventListener('hashchange', () => this.openLink());
    addEventListener('online', () => this.enter());
    addEventListener('offline', () => this.sayFailure());
    events.listen(({ kind, id }) => {
      if (kind === 'open') this.clicked(id);
      else if (kind === 'session') this.enter();
      else this.refresh();
    });
  }

  /** Shows the messages or the devices. */
  view(name) {
    document.body.dataset.view = name;
    for (const button of byId('views').children) button.setAttribute('aria-pressed', String(button.dataset.view === name));
    if (name === 'devices') this.devices.update();
  }

  /** Shows what fits: the log-in, or the messages of the user who is logged in. */
  async enter() {
    const userName = await credentials.userName().catch(() => undefined);
    if (userName === undefined) {
      // A busy browser does not give its storage in time.
      this.sayFailure('SP-CREDENTIALS');
      clearTimeout(this.entering);
      this.entering = setTimeout(() => this.enter(), 5_000);
      return;
    }
    const isLoggedIn = await credentials.credentials().then((found) => found !== null, () => true);
    if (!isLoggedIn) {
      await this.showLogIn();
      // A log-out without a network.
      await client.finishLogOut();
      return;
    }
    this.showUser(userName);
    // The list does not wait for a push service.
    await this.refresh();
    await this.openLink();
    // The session may have ended.
    if (byId('inbox').hidden) return;
    // Nor does what was missed: a browser without a push service may take its time to say so.
    const connected = this.connect();
    const { result } = await client.catchUp();
    if (result !== 'noData') await this.refresh();
    await connected;
  }

  /** Shows the log-in, with nothing left of the messages. Who was reading them goes on there by the keyboard. */
  async showLogIn(why = 'logInEnded') {
    const userName = await credentials.userName().catch(() => null);
    const waiting = await client.waiting();
    const wasInside = !byId('inbox').hidden;
    const isNew = byId('log-in').hidden;
    if (userName === null) this.#stopListening();
    this.inbox.clear();
    this.devices.clear();
    this.view('messages');
    byId('fact-channel').textContent = '';
    this.showUnread(0);
    for (const id of ['inbox', 'device', 'devices', 'permission', 'log-out', 'who', 'views']) show(id, false);
    show('log-in', true);
    this.say(navigator.onLine ? '' : text('offline'));
    // A reason that was given stays.
    if (waiting.length > 0 || isNew) {
      const reason = userName === null && !wasInside ? 'logInText' : why;
      byId('log-in-reason').textContent = text(waiting.length > 0 ? 'logInWaiting' : reason);
    }
    if (wasInside) byId('user-name').value = userName ?? '';
    else if (userName && !byId('user-name').value) byId('user-name').value = userName;
    if (!wasInside) return;
    byId(byId('user-name').value ? 'password' : 'user-name').focus();
  }

  showUser(userName) {
    // Another user has logged in, in another window.
    if (byId('who').textContent !== userName) this.inbox.clear();
    byId('who').textContent = userName;
    for (const element of document.querySelectorAll('.recipient')) element.textContent = userName;
    const wasOutside = !byId('log-in').hidden;
    byId('password').value = '';
    show('log-in', false);
    for (const id of ['who', 'log-out', 'inbox', 'device', 'devices', 'views']) show(id, true);
    show('send-hint', config.emulatorDevices !== null);
    if (wasOutside) byId('inbox-title').focus();
  }

  async logIn() {
    const [userName, password] = [byId('user-name').value, byId('password').value];
    show('log-in-error', false);
    byId('log-in-button').disabled = true;
    try {
      await credentials.logIn(userName, password);
    } catch (error) {
      byId('log-in-error').textContent = error.code === 'SP-401' ? text('wrongPassword') : failureText(error.code);
      show('log-in-error', true);
      byId('password').focus();
      return;
    } finally {
      byId('log-in-button').disabled = false;
    }
    this.showUser(userName);
    await client.resumeAfterLogIn();
    await this.enter();
  }

  async logOut() {
    // The messages go at once: the server may take its time, and without a network it is told later.
    this.inbox.clear();
    try {
      await client.logOut();
    } catch (error) {
      // The browser cannot store it.
      this.say(failureText(error.code ?? error.name));
      await this.enter();
      return;
    }
    await this.showLogIn('logInText');
  }

  #stopListening() {
    this.stream?.close();
    this.stream = null;
  }

  async allow() {
    await Notification.requestPermission();
    await this.connecting;
    await this.connect();
    await client.catchUp();
    await this.refresh();
  }

  /** Registers this browser, once the user allows notifications. Who asks while it goes on waits for it. */
  connect() {
    this.connecting ??= this.#connect().finally(() => { this.connecting = null; });
    return this.connecting;
  }

  async #connect() {
    const { permission } = Notification;
    const hadFocus = byId('permission').contains(document.activeElement);
    show('permission', permission !== 'granted');
    show('allow', permission === 'default');
    if (hadFocus && permission !== 'default') byId('inbox-title').focus();
    const question = config.emulatorDevices ? 'permissionTextEmulator' : 'permissionText';
    byId('permission-text').textContent = text(permission === 'denied' ? 'permissionDenied' : question);
    let channel = text('channelNone');
    if (permission === 'granted') {
      byId('fact-channel').textContent ||= text('channelAsking');
      try {
        channel = await this.#register();
      } catch (error) {
        channel = text('channelFailed', error.code ?? error.name);
      }
    }
    byId('fact-channel').textContent = channel;
    await this.showFacts();
  }

  /** By the browser's push service, or by the hub emulator if the browser's own attempt finds none. */
  async #register() {
    if (!this.hasNoPushService) {
      try {
        await this.#registered(client.subscribe({ timeout: 8 }));
        this.#stopListening();
        this.display = null;
        return text('channelPush');
      } catch (error) {
        // Only the browser's attempt decides. `SP-404`: the server has no key, so it was not asked.
        const isFinal = error.name === 'SecurePushFailure' ? error.code !== 'SP-404' : error.name === 'NotAllowedError';
        if (!config.emulatorDevices || isFinal) throw error;
        // Until the page is loaded again: the attempt takes its time.
        this.hasNoPushService = true;
      }
    }
    const device = await emulatedDevice();
    await this.#registered(client.register(device));
    this.stream ??= listen(device, this.registration);
    this.display ??= new EmulatedDisplay(device, this.registration);
    return text('channelEmulator');
  }

  /** Waits for a registration. A device whose key the server does not have receives what is not encrypted. */
  async #registered(registration) {
    this.keyFault = null;
    try {
      await registration;
    } catch (error) {
      if (!error.installationID) throw error;
      this.keyFault = error.code;
    }
  }

  async showFacts() {
    byId('fact-signed').textContent = text(config.pushKeys ? 'signedYes' : 'signedNo');
    const fingerprint = await client.encryptionKeyFingerprint().catch(() => null);
    const fact = fingerprint ? 'encryptedYes' : 'encryptedNotYet';
    byId('fact-encrypted').textContent = this.keyFault ? text('encryptedFailed', this.keyFault) : text(fact);
    byId('fingerprint').textContent = fingerprint ?? '';
    show('fact-fingerprint', fingerprint !== null);
    show('send-encrypted', fingerprint !== null && !this.keyFault && config.emulatorDevices !== null);
  }

  /** Shows the list and the number of unread messages again. Who asks while it is asked waits for the next time. */
  refresh() {
    this.nextRefresh ??= Promise.resolve(this.thisRefresh).then(() => {
      this.nextRefresh = null;
      this.thisRefresh = this.#refresh();
      return this.thisRefresh;
    });
    return this.nextRefresh;
  }

  async #refresh() {
    if (byId('inbox').hidden) {
      // A push has found that the session is over, while this page is open.
      if ((await client.waiting()).length > 0) await this.showLogIn();
      return;
    }
    try {
      const unread = await this.inbox.update();
      if (unread === null) return;
      this.showUnread(unread);
      if (this.isFailing) this.say('');
      this.isFailing = false;
    } catch (error) {
      if (['SP-401', 'SP-LOGIN'].includes(error.code)) await this.showLogIn();
      else this.sayFailure(error.code);
    }
    // Later: Chromium forgets a notification that is listed in the moment in which it is shown.
    clearTimeout(this.displayTimer);
    this.displayTimer = setTimeout(() => this.display?.update().catch(() => {}), 500);
  }

  showUnread(count) {
    this.unread = Math.max(0, count);
    const hasUnread = this.unread > 0;
    byId('unread').textContent = text('unreadCount', this.unread);
    show('unread', hasUnread);
    if (!hasUnread && document.activeElement === byId('mark-all')) byId('inbox-title').focus();
    show('mark-all', hasUnread);
    document.title = hasUnread ? `(${this.unread}) SecurePush` : 'SecurePush';
  }

  async markAll() {
    await client.markAsReadThrough(this.inbox.newestID).catch((error) => this.say(failureText(error.code)));
    await this.refresh();
  }

  /** A notification was clicked. The window that it has brought to the front shows the message. */
  async clicked(id) {
    for (let tries = 0; document.visibilityState !== 'visible'; tries += 1) {
      if (tries === 20) return;
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    if (!id) return;
    history.replaceState(null, '', `#${id}`);
    await this.openLink();
  }

  /** Opens the message of the address, unless somebody has to log in first. */
  async openLink() {
    const id = location.hash.slice(1).toLowerCase();
    if (!id || byId('inbox').hidden) return;
    history.replaceState(null, '', location.pathname + location.search);
    this.view('messages');
    await this.inbox.open(id).catch((error) => this.say(failureText(error.code)));
  }

  /** Shows a line above everything, and tells it once. */
  say(message) {
    if (message && message !== byId('status').textContent) this.tell(message);
    byId('status').textContent = message;
    show('status', message !== '');
  }

  /** Until the list can be had again. */
  sayFailure(code) {
    this.isFailing = true;
    this.say(failureText(code));
  }

  /** Tells a screen reader, wherever its user is in the page. */
  tell(message) {
    byId('news').textContent = message;
  }
}

const app = new App();
await app.start();
