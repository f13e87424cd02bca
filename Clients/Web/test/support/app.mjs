import { Browser } from './devtools.mjs';

/** The example in a browser: its page, its service worker, and what they show. */
export class WebApp {
  static async start(stack, options = {}) {
    const browser = await Browser.start(options);
    const app = new WebApp(browser, stack);
    await browser.send('Browser.grantPermissions', { permissions: ['notifications'], origin: stack.emulator });
    // A document in the worker's scope that runs no script of the app: the page counts as closed.
    app.driver = await browser.open(`${stack.app}icons/quiet.svg`);
    app.registrations = new Map();
    app.driver.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const { registrationId, scopeURL, isDeleted } of registrations) {
        if (isDeleted) app.registrations.delete(scopeURL);
        else app.registrations.set(scopeURL, registrationId);
      }
    });
    await app.driver.send('ServiceWorker.enable');
    await app.driver.evaluate(() => {
      self.wakes = 0;
      self.channel = new BroadcastChannel('securepush');
      self.channel.onmessage = ({ data }) => { self.wakes += data.kind === 'wake' ? 1 : 0; };
    });
    return app;
  }

  constructor(browser, stack) {
    this.browser = browser;
    this.stack = stack;
    /** The service workers that were attached to, by their targets. */
    this.workers = new Map();
  }

  /** Opens the page and waits for the part of it that fits. */
  async openPage({ hash = '' } = {}) {
    this.page = await this.browser.open(this.stack.app + hash);
    await this.page.until(() => ['log-in', 'inbox'].some((id) => document.getElementById(id)?.hidden === false));
    await this.page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    return this.page;
  }

  async closePage() {
    await this.browser.send('Target.closeTarget', { targetId: this.page.targetId });
    this.page = null;
  }

  /** Types into the log-in form, as a person does. */
  async logIn(password = this.stack.password) {
    await this.page.until(() => document.getElementById('log-in').hidden === false);
    for (const [id, text] of [['user-name', 'alice'], ['password', password]]) {
      await this.page.evaluate((name) => {
        document.getElementById(name).focus();
        document.getElementById(name).select();
      }, id);
      await this.page.send('Input.insertText', { text });
    }
    await this.page.evaluate(() => document.getElementById('log-in-button').click());
  }

  async logOut() {
    await this.page.until(() => !document.getElementById('log-out').hidden);
    await this.page.evaluate(() => document.getElementById('log-out').click());
    await this.page.until(() => !document.getElementById('log-in').hidden);
  }

  /** Puts an access token in place of the one in the store. */
  setToken(token) {
    return this.driver.evaluate(async (url, text) => {
      const { credentials } = await import(url);
      await credentials.logInWithToken('alice', text);
    }, `${this.stack.app}client.js`, token);
  }

  /** The public key of this device for end-to-end encryption. */
  publicKey() {
    return this.driver.evaluate(async (url) => {
      const { store } = await import(url);
      return (await store.deviceKeys())[0]?.jwk.x;
    }, `${this.stack.app}client.js`);
  }

  /** The running service worker. */
  async worker() {
    await this.driver.evaluate(() => (
      navigator.serviceWorker.ready.then(({ active }) => active.postMessage({}))));
    const [{ targetId }] = await this.browser.targets('service_worker');
    if (!this.workers.has(targetId)) this.workers.set(targetId, await this.browser.attach(targetId));
    return this.workers.get(targetId);
  }

  /** Delivers a push event with these bytes to the service worker, and waits until it has been handled. */
  async deliver(text) {
    await this.duringWake(() => this.deliverWithoutWaiting(text));
  }

  /** Delivers a push event that does not lead to a wake: the client ignores it, or cannot use it. */
  async deliverWithoutWaiting(text) {
    await this.driver.send('ServiceWorker.deliverPushMessage', {
      origin: this.stack.emulator, registrationId: this.registrations.get(this.stack.app), data: text,
    });
  }

  /**
   * Does something, and waits for the end of a wake. Chromium forgets a notification that is listed in the moment in
   * which it is shown, so the tests do not list while a wake goes on.
   */
  async duringWake(work) {
    const before = await this.driver.evaluate(() => self.wakes);
    const result = await work();
    await this.driver.until((count) => self.wakes > count, before);
    await new Promise((done) => setTimeout(done, 300));
    return result;
  }

  /** Notes each number that the worker puts on the app's icon. The worker must stay alive. */
  async recordBadges() {
    const worker = await this.worker();
    await worker.evaluate(() => {
      self.badges = [];
      self.navigator.setAppBadge = async (count) => { self.badges.push(count); };
      self.navigator.clearAppBadge = async () => { self.badges.push(0); };
    });
    return () => worker.evaluate(() => self.badges);
  }

  /** The notifications on the screen, read in the service worker. */
  async notifications() {
    const worker = await this.worker();
    return worker.evaluate(async () => (await self.registration.getNotifications())
      .map(({ title, body, tag, data }) => ({ title, body, tag, kind: data?.kind ?? null })));
  }

  /** Waits until the notifications fulfil a condition. */
  async untilShown(condition) {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const shown = await this.notifications();
      if (condition(shown)) return shown;
      if (Date.now() > deadline) {
        throw new Error(`Waited in vain; on the screen: ${JSON.stringify(shown)}\n${await this.#explain()}`);
      }
      await new Promise((done) => setTimeout(done, 1_000));
    }
  }

  /** What the store and the worker know, for a test that fails. */
  async #explain() {
    const state = await this.driver.evaluate(async (url) => {
      const { entries, cursor, unconfirmed, unreported } = await (await import(url)).store.read();
      return JSON.stringify({ entries, cursor, unconfirmed, unreported });
    }, `${this.stack.app}client.js`);
    const log = [...this.workers.values()].flatMap((worker) => worker.log);
    return `${state}\n${JSON.stringify(await this.browser.targets('service_worker'))}\n${log.join('\n')}`;
  }

  close() { return this.browser.close(); }
}
