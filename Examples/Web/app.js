// The page: log in, permission, messages, log out.
import { client, credentials, events, store } from './client.js';
import * as config from './config.js';
import { EmulatedDisplay, emulatedDevice, listen } from './emulator.js';
import { InboxView } from './inbox-view.js';
import { DeviceKey, PushVerifier, subscribeToPush } from './securepush/securepush.js';
import { language, text } from './texts.js';

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
    if (!('serviceWorker' in navigator) || !('Notification' in globalThis)) {
      show('unsupported', true);
      return;
    }
    await navigator.serviceWorker.register(worker, { type: 'module', updateViaCache: 'none' });
    this.registration = await navigator.serviceWorker.ready;
    this.inbox = new InboxView(client);
    this.#addListeners();
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
    byId('entries').addEventListener('message-read', () => this.showUnread());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.enter();
    });
    events.listen((event) => (event.kind === 'open' ? this.open(event.id) : this.refresh()));
  }

  /** Shows what fits: the log-in, or the messages of the user who is logged in. */
  async enter() {
    const isLoggedIn = await credentials.credentials().then((found) => found !== null, () => true);
    if (!isLoggedIn) {
      await this.showLogIn();
      return;
    }
    await this.showUser();
    await this.connect();
    const report = await client.catchUp();
    if (['SP-401', 'SP-LOGIN'].includes(report.code)) {
      await this.showLogIn();
      return;
    }
    this.say(report.result === 'failed' && report.code ? text('failed', report.code) : '');
    await this.refresh();
    if (location.hash.length > 1) await this.open(location.hash.slice(1));
  }

  async showLogIn() {
    const userName = await credentials.userName().catch(() => null);
    const waiting = await client.waiting();
    for (const id of ['inbox', 'device', 'permission', 'log-out', 'who', 'unread']) show(id, false);
    show('log-in', true);
    this.say('');
    const reason = waiting.length > 0 ? 'logInWaiting' : userName ? 'logInEnded' : 'logInText';
    byId('log-in-reason').textContent = text(reason);
    if (userName && !byId('user-name').value) byId('user-name').value = userName;
  }

  async showUser() {
    const userName = await credentials.userName();
    byId('who').textContent = userName;
    for (const element of document.querySelectorAll('.recipient')) element.textContent = userName;
    show('log-in', false);
    for (const id of ['who', 'log-out', 'inbox', 'device']) show(id, true);
    show('send-hint', config.emulatorDevices !== null);
  }

  async logIn() {
    const [userName, password] = [byId('user-name').value, byId('password').value];
    show('log-in-error', false);
    byId('log-in-button').disabled = true;
    try {
      await credentials.logIn(userName, password);
      byId('password').value = '';
      await this.showUser();
      await client.resumeAfterLogIn();
      await this.connect();
      await this.refresh();
    } catch (error) {
      const key = error.code === 'SP-401' ? 'wrongPassword' : 'failed';
      byId('log-in-error').textContent = text(key, error.code ?? '');
      show('log-in-error', true);
      byId('password').focus();
    } finally {
      byId('log-in-button').disabled = false;
    }
  }

  async logOut() {
    try {
      await client.unregister();
    } catch (error) {
      // The server may still have the device: the user stays logged in, and can try again.
      if (!['SP-401', 'SP-LOGIN'].includes(error.code)) {
        this.say(text('failed', error.code ?? ''));
        return;
      }
    }
    this.stream?.close();
    this.stream = null;
    await credentials.logOut();
    this.inbox.clear();
    byId('user-name').value = '';
    await this.showLogIn();
    byId('user-name').focus();
  }

  async allow() {
    await Notification.requestPermission();
    await this.connect();
    await client.catchUp();
    await this.refresh();
  }

  /** Registers this browser, once the user allows notifications. */
  async connect() {
    const { permission } = Notification;
    show('permission', permission !== 'granted');
    show('allow', permission === 'default');
    const question = config.emulatorDevices ? 'permissionTextEmulator' : 'permissionText';
    byId('permission-text').textContent = text(permission === 'denied' ? 'permissionDenied' : question);
    let channel = text('channelNone');
    if (permission === 'granted') {
      try {
        channel = await this.#register();
      } catch (error) {
        channel = text('channelFailed', error.code ?? error.name);
      }
    }
    byId('fact-channel').textContent = channel;
    await this.showFacts();
  }

  /** By the push service, or by the hub emulator where none can be reached. */
  async #register() {
    if (config.vapidPublicKey) {
      try {
        await client.register(await subscribeToPush(this.registration, config.vapidPublicKey, { timeout: 8 }));
        return text('channelPush');
      } catch (error) {
        if (!config.emulatorDevices || error.name !== 'AbortError') throw error;
      }
    }
    if (!config.emulatorDevices) throw new DOMException('There is no VAPID key.', 'NotSupportedError');
    const device = await emulatedDevice();
    await client.register(device);
    this.stream ??= listen(device, this.registration);
    this.display ??= new EmulatedDisplay(device, this.registration);
    return text('channelEmulator');
  }

  async showFacts() {
    const canVerify = await PushVerifier.isSupported();
    const signed = canVerify ? 'signedYes' : 'signedImpossible';
    byId('fact-signed').textContent = text(config.pushKeys ? signed : 'signedNo');
    const hasKey = (await store.deviceKey()) !== null;
    const canEncrypt = hasKey || (await DeviceKey.generate()) !== null;
    byId('fact-encrypted').textContent = text(hasKey ? 'encryptedYes' : canEncrypt ? 'encryptedNotYet' : 'encryptedNo');
    show('send-encrypted', hasKey && config.emulatorDevices !== null);
  }

  /** Shows the list and the number of unread messages again. */
  async refresh() {
    if (byId('inbox').hidden) {
      // A push has found that the session is over, while this page is open.
      if ((await client.waiting()).length > 0) await this.showLogIn();
      return;
    }
    try {
      this.showUnread(await this.inbox.update());
    } catch (error) {
      if (['SP-401', 'SP-LOGIN'].includes(error.code)) await this.showLogIn();
      else this.say(text('failed', error.code ?? ''));
    }
    // Later: Chromium forgets a notification that is listed in the moment in which it is shown.
    clearTimeout(this.displayTimer);
    this.displayTimer = setTimeout(() => this.display?.update().catch(() => {}), 500);
  }

  showUnread(count = document.querySelectorAll('.entry.unread').length) {
    byId('unread').textContent = count;
    show('unread', count > 0);
    show('mark-all', count > 0);
    document.title = count > 0 ? `(${count}) SecurePush` : 'SecurePush';
  }

  async markAll() {
    const ids = [...this.inbox.items].filter(([, item]) => item.classList.contains('unread')).map(([id]) => id);
    await client.markAsRead(ids).catch((error) => this.say(text('failed', error.code ?? '')));
    await this.refresh();
  }

  async open(id) {
    history.replaceState(null, '', location.pathname);
    if (id) await this.inbox.open(id);
  }

  say(message) {
    byId('status').textContent = message;
    show('status', message !== '');
  }
}

const app = new App();
await app.start();
