import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A Chromium that is driven by the DevTools protocol over a pipe (`--remote-debugging-pipe`): JSON messages, each with
 * a NUL byte at its end, on file descriptors 3 and 4. A pipe needs no port and no WebSocket, which older versions of
 * Node do not have.
 */
export class Browser {
  /**
   * Starts a browser with an empty profile.
   *
   * @param {{dark?: boolean, width?: number, height?: number, executable?: string}} [options]
   */
  static async start({ executable = process.env.CHROMIUM ?? 'chromium', width = 1000, height = 800 } = {}) {
    const profile = await mkdtemp(join(tmpdir(), 'securepush-chromium.'));
    const process_ = spawn(executable, [
      '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
      '--no-first-run', '--no-default-browser-check', '--disable-background-networking', '--disable-sync',
      '--disable-component-update', '--disable-extensions', '--hide-scrollbars', '--mute-audio', '--lang=en-GB',
      '--force-color-profile=srgb', `--user-data-dir=${profile}`, `--window-size=${width},${height}`, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: { ...process.env, LANGUAGE: 'en_GB' } });
    process.once('exit', () => process_.kill('SIGKILL'));
    const browser = new Browser(process_, profile);
    await browser.send('Browser.getVersion').catch((error) => {
      throw new Error(`${executable} did not start: ${error.message}\n${browser.complaints.slice(-2000)}`);
    });
    return browser;
  }

  constructor(process_, profile) {
    this.process = process_;
    this.profile = profile;
    this.complaints = '';
    this.sessions = new Map();
    this.listeners = new Set();
    this.waiting = new Map();
    this.number = 0;
    this.isOver = new Promise((resolve) => process_.once('exit', resolve));
    process_.stderr.on('data', (data) => { this.complaints = (this.complaints + data).slice(-20_000); });
    process_.stdio[3].on('error', () => {});
    let rest = Buffer.alloc(0);
    process_.stdio[4].on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.receive(JSON.parse(rest.subarray(0, end).toString('utf8')));
        rest = rest.subarray(end + 1);
      }
    });
    process_.once('error', (error) => this.fail(error));
    process_.once('exit', (code) => this.fail(new Error(`the browser ended (${code})`)));
  }

  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  receive(message) {
    if (message.id === undefined) {
      for (const listener of [...this.listeners]) listener(message);
      return;
    }
    const { resolve, reject, method } = this.waiting.get(message.id) ?? {};
    this.waiting.delete(message.id);
    if (message.error) reject?.(new Error(`${method}: ${message.error.message}`));
    else resolve?.(message.result);
  }

  /** Sends a command and returns its result. */
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, method });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Calls back for each event of a method, until the returned function is called. */
  on(method, callback, sessionId = undefined) {
    const listener = (message) => {
      if (message.method === method && (!sessionId || message.sessionId === sessionId)) callback(message.params);
    };
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Opens a page. */
  async open(url) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const target = await this.attach(targetId);
    await target.send('Page.enable');
    await target.send('Log.enable');
    await target.navigate(url);
    return target;
  }

  /** Attaches to a target. */
  async attach(targetId) {
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const target = new Target(this, targetId, sessionId);
    await target.send('Runtime.enable');
    return target;
  }

  /** The targets of a type, such as `service_worker`. */
  async targets(type) {
    const { targetInfos } = await this.send('Target.getTargets', { filter: [{}] });
    return targetInfos.filter((info) => info.type === type);
  }

  async close() {
    await Promise.race([this.send('Browser.close').catch(() => {}), new Promise((done) => setTimeout(done, 2000))]);
    const killer = setTimeout(() => this.process.kill('SIGKILL'), 3000);
    await this.isOver;
    clearTimeout(killer);
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A page or a worker. */
export class Target {
  constructor(browser, targetId, sessionId) {
    this.browser = browser;
    this.targetId = targetId;
    this.sessionId = sessionId;
    /** Texts of the console, errors and refusals of the content security policy. */
    this.log = [];
    browser.on('Runtime.consoleAPICalled', ({ type, args }) => {
      this.log.push(`${type}: ${args.map((arg) => arg.value ?? arg.description).join(' ')}`);
    }, sessionId);
    browser.on('Runtime.exceptionThrown', ({ exceptionDetails: details }) => {
      this.log.push(`exception: ${details.exception?.description ?? details.text}`);
    }, sessionId);
    browser.on('Log.entryAdded', ({ entry }) => {
      this.log.push(`${entry.level}: ${entry.text} ${entry.url ?? ''}`);
    }, sessionId);
  }

  send(method, params = {}) { return this.browser.send(method, params, this.sessionId); }
  on(method, callback) { return this.browser.on(method, callback, this.sessionId); }

  async navigate(url) {
    const loaded = new Promise((resolve) => {
      const stop = this.on('Page.loadEventFired', () => { stop(); resolve(); });
    });
    const { errorText } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** Evaluates an expression, or calls a function with arguments, and returns the value that it resolves to. */
  async evaluate(expression, ...args) {
    const text = typeof expression === 'function'
      ? `(${expression})(${args.map((arg) => JSON.stringify(arg)).join(', ')})` : expression;
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression: text, awaitPromise: true, returnByValue: true, userGesture: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Evaluates until the value is truthy. */
  async until(expression, ...args) {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const value = await this.evaluate(expression, ...args);
      if (value) return value;
      if (Date.now() > deadline) throw new Error(`Waited in vain for ${expression}\n${this.log.join('\n')}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** A PNG of what a person sees. */
  async screenshot() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }
}
