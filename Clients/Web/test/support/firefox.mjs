import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, createReadStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

/** `nobody` of Debian: Firefox does not work for root. */
const nobody = 65_534;
/** How long a step may take, and the start beside the build of something, in milliseconds. */
const patience = 30_000;
const patienceAtStart = 90_000;

/** The settings of a fresh profile: the push service on loopback, no questions, and no connections of its own. */
const preferences = (pushService) => ({
  'dom.push.serverURL': pushService,
  'dom.push.testing.allowInsecureServerURL': true,
  'dom.push.testing.ignorePermission': true,
  'permissions.default.desktop-notification': 1,
  'dom.webnotifications.requireuserinteraction': false,
  'alerts.useSystemBackend': false,
  'network.manage-offline-status': false,
  'network.connectivity-service.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.proxy.type': 0,
  'network.trr.mode': 5,
  'network.dns.disablePrefetch': true,
  'network.http.speculative-parallel-limit': 0,
  'app.update.disabledForTesting': true,
  'app.normandy.enabled': false,
  'app.shield.optoutstudies.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'datareporting.healthreport.uploadEnabled': false,
  'toolkit.telemetry.enabled': false,
  'toolkit.telemetry.server': '',
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'extensions.update.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'extensions.getAddons.cache.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.safebrowsing.downloads.remote.enabled': false,
  'browser.safebrowsing.blockedURIs.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.aboutwelcome.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.topsites.contile.enabled': false,
  'browser.region.network.url': '',
  'browser.search.update': false,
  'browser.search.serpEventTelemetryCategorization.enabled': false,
  'browser.tabs.warnOnClose': false,
  'browser.uitour.enabled': false,
  'termsofuse.bypassNotification': true,
  'trailhead.firstrun.didSeeAboutWelcome': true,
  'media.gmp-manager.updateEnabled': false,
  'media.gmp-provider.enabled': false,
  'geo.provider.network.url': '',
  'dom.ipc.processCount': 2,
  'intl.accept_languages': 'en-GB, en',
});

/** What the page of the driver does: it asks for work, and does it in the frame of the app. */
const driverPage = `<!doctype html><meta charset="utf-8"><title>SecurePush</title>
<style>body { margin: 0 } iframe { border: 0; width: 100vw; height: 100vh }</style>
<script type="module">
for (;;) {
  const { id, source, values } = await (await fetch('/driver/work')).json();
  let answer;
  try { answer = { value: await (0, eval)('(' + source + ')')(...values) }; }
  catch (error) { answer = { error: String(error?.stack ? error + error.stack : error) }; }
  await fetch('/driver/answer/' + id, { method: 'POST', body: JSON.stringify(answer) });
}
</script>`;

/** What is added to the app's worker: it tells what the user sees after each push. */
const workerReport = `
const { onPush } = PushWorker.prototype;
PushWorker.prototype.onPush = async function (event) {
  await onPush.call(this, event);
  const shown = (await self.registration.getNotifications())
    .map(({ title, body, tag, data, silent }) => ({ title, body, tag, silent, kind: data?.kind ?? null }));
  await fetch('/driver/push', { method: 'POST', body: JSON.stringify(shown) });
};
`;

const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/**
 * A Firefox of Debian on a screen of its own (Xvfb), without WebDriver: its first page asks this process for work, and
 * the app's service worker reports what it shows. It is not allowed any connection beyond loopback.
 */
export class Firefox {
  /**
   * Serves the app and the driver's page. The browser comes later: the services want to know the origin.
   *
   * @param {string} app the folder of the app (scripts/web-app.sh)
   */
  static async serve(app) {
    const firefox = new Firefox(app);
    firefox.server = createServer((request, response) => {
      firefox.#serve(request, response).catch(() => response.destroy());
    });
    await new Promise((resolve) => { firefox.server.listen(0, '127.0.0.1', resolve); });
    firefox.origin = `http://127.0.0.1:${firefox.server.address().port}`;
    return firefox;
  }

  constructor(app) {
    this.app = app;
    this.work = [];
    this.answers = new Map();
    /** Who waits for work. */
    this.idle = [];
    /** What the user saw after each push. */
    this.reports = [];
    this.output = '';
    this.children = [];
  }

  /** What Firefox has said last. */
  get end() { return this.output.slice(-3_000); }

  /** @param {string} pushService the WebSocket of the push service */
  async start(pushService) {
    this.folder = await mkdtemp(join(tmpdir(), 'securepush-firefox.'));
    const profile = join(this.folder, 'profile');
    mkdirSync(profile);
    writeFileSync(join(profile, 'user.js'), Object.entries(preferences(pushService))
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
    const user = process.getuid() === 0 ? { uid: nobody, gid: nobody } : {};
    if (user.uid) for (const path of [this.folder, profile, join(profile, 'user.js')]) chownSync(path, nobody, nobody);
    const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1000x760x24', '-nolisten', 'tcp', '-ac'], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: this.folder }, ...user,
    });
    this.children.push(screen);
    process.once('exit', () => { for (const child of this.children) child.kill('SIGKILL'); });
    this.display = `:${await this.#firstLine(screen, 3)}`;
    const browser = spawn(process.env.FIREFOX ?? 'firefox-esr', [
      '--no-remote', '--new-instance', '--profile', profile, '--width', '1000', '--height', '760',
      `${this.origin}/driver.html`,
    ], {
      cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'], ...user,
      env: {
        PATH: process.env.PATH, HOME: this.folder, TMPDIR: this.folder, DISPLAY: this.display, LANG: 'C.UTF-8',
        MOZ_DISABLE_NONLOCAL_CONNECTIONS: '1', MOZ_CRASHREPORTER_DISABLE: '1', MOZ_DBUS_REMOTE: '0',
        XDG_RUNTIME_DIR: this.folder, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1',
      },
    });
    this.children.push(browser);
    for (const stream of [browser.stdout, browser.stderr]) {
      stream.on('data', (data) => { this.output = (this.output + data).slice(-20_000); });
    }
    this.isOver = new Promise((resolve) => { browser.once('exit', (code, signal) => resolve(code ?? signal)); });
    await this.#run(patienceAtStart, () => document.title);
  }

  #firstLine(child, descriptor) {
    return new Promise((resolve, reject) => {
      let text = '';
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended (${code})`)));
      child.stdio[descriptor].on('data', (data) => {
        text += data;
        if (text.includes('\n')) resolve(text.trim());
      });
    });
  }

  async #serve(request, response) {
    const path = request.url.split(/[?#]/)[0];
    const send = (status, type, body = '') => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    };
    if (path === '/driver/work') {
      const next = this.work.shift() ?? await new Promise((resolve) => { this.idle.push(resolve); });
      send(200, 'application/json', JSON.stringify(next));
    } else if (path.startsWith('/driver/')) {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      if (path === '/driver/push') this.reports.push(value);
      else this.answers.get(path.split('/').at(-1))?.(value);
      send(204, 'text/plain');
    } else if (path === '/driver.html') {
      send(200, 'text/html', driverPage);
    } else {
      const file = join(this.app, normalize(path).replace(/^\/app\//, '/').replace(/\/$/, '/index.html'));
      if (!path.startsWith('/app/') || !existsSync(file)) {
        send(404, 'text/plain');
        return;
      }
      response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain', 'Cache-Control': 'no-store' });
      const stream = createReadStream(file);
      stream.on('end', () => response.end(path === '/app/sw.js' ? workerReport : ''));
      stream.pipe(response, { end: false });
    }
  }

  /** Runs a function in the driver's page, and returns its result. */
  evaluate(work, ...values) { return this.#run(patience, work, ...values); }

  async #run(limit, work, ...values) {
    const item = { id: randomUUID(), source: `${work}`, values };
    const answer = new Promise((resolve) => { this.answers.set(item.id, resolve); });
    const taker = this.idle.shift();
    if (taker) taker(item);
    else this.work.push(item);
    const { value, error } = await this.#inTime(answer, limit, `no answer to ${item.source}`);
    this.answers.delete(item.id);
    if (error) throw new Error(error);
    return value;
  }

  /** Waits until a function in the driver's page returns something true. */
  async until(work, ...values) {
    const deadline = Date.now() + patience;
    for (;;) {
      const value = await this.evaluate(work, ...values);
      if (value) return value;
      if (Date.now() > deadline) throw new Error(`Waited in vain for ${work}\n${await this.#look()}`);
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
  }

  /** Waits for a report of the worker that fulfils a condition, and takes it and those before it. */
  async untilReported(condition) {
    const deadline = Date.now() + patience;
    const seen = [];
    for (;;) {
      while (this.reports.length > 0) {
        const report = this.reports.shift();
        if (condition(report)) return report;
        seen.push(report);
      }
      if (Date.now() > deadline) throw new Error(`No such report: ${JSON.stringify(seen)}\n${this.end}`);
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  }

  /** Opens the app in the driver's page, and waits for what it shows first. */
  async openApp() {
    await this.evaluate(() => {
      const frame = document.createElement('iframe');
      frame.id = 'app';
      frame.src = '/app/';
      document.body.replaceChildren(frame);
    });
    await this.until(() => ['log-in', 'inbox'].some((id) => (
      document.getElementById('app').contentDocument?.getElementById(id)?.hidden === false)));
  }

  closeApp() { return this.evaluate(() => document.body.replaceChildren()); }

  /** Types into the log-in form of the app. */
  logIn(name, password) {
    return this.evaluate((userName, secret) => {
      const page = document.getElementById('app').contentDocument;
      page.getElementById('user-name').value = userName;
      page.getElementById('password').value = secret;
      page.getElementById('log-in-button').click();
    }, name, password);
  }

  /** The text of an element of the app. */
  text(id) {
    return this.evaluate((name) => document.getElementById('app').contentDocument.getElementById(name).textContent, id);
  }

  /** What the user sees, read in the page. */
  notifications() {
    return this.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration('/app/');
      const shown = await registration.getNotifications();
      return shown.map(({ body, tag, data }) => ({ body, tag, kind: data?.kind ?? null }));
    });
  }

  /** Writes a picture of the screen, by ImageMagick. */
  async screenshot(path) {
    const picture = spawn('import', ['-display', this.display, '-window', 'root', `png:${path}`], { stdio: 'ignore' });
    await new Promise((resolve, reject) => {
      picture.once('error', reject);
      picture.once('exit', resolve);
    });
  }

  async #look() { return JSON.stringify(await this.notifications().catch((error) => `${error}`)); }

  async #inTime(promise, limit, problem) {
    let timer;
    const end = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${problem}\n${this.end}`)), limit);
    });
    const over = this.isOver?.then((code) => { throw new Error(`Firefox ended (${code}).\n${this.end}`); });
    try {
      return await Promise.race([promise, end, ...(over ? [over] : [])]);
    } finally {
      clearTimeout(timer);
    }
  }

  async stop() {
    for (const child of this.children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => { child.once('exit', resolve); });
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    }
    this.server.closeAllConnections();
    await new Promise((resolve) => { this.server.close(resolve); });
    if (this.folder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
