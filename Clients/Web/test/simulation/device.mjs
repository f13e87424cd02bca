import { generateKeyPairSync, sign } from 'node:crypto';
import { makeConfiguration } from '../../lib/configuration.js';
import { SecurePushClient } from '../../lib/client.js';
import { TokenCredentialsProvider } from '../../lib/credentials.js';
import { MemoryClientStore } from '../../lib/store.js';
import { PushWorker } from '../../securepush-worker.js';
import { failingResponse, FaultPlan } from './faults.mjs';
import { randomNumbers, SimulatedClock } from './clock.mjs';
import { SimulatedServer } from './server.mjs';

/** One for all devices, because making keys takes longer than a wake. */
export const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const pushKeys = { keys: [pair.publicKey.export({ format: 'jwk' })] };

/** The data of a `push` event. */
export const messageData = (text) => ({ arrayBuffer: () => new TextEncoder().encode(text).buffer });

/** A page or a worker. It can die before or after the effect of any call of its store, transport or presenter. */
class SimulatedProcess {
  constructor(diesAt = null) {
    this.diesAt = diesAt;
    this.points = [];
    this.isDead = false;
    this.death = new Promise((resolve) => { this.die = resolve; });
  }

  /** Runs the effect of a call, with a point before and one after it. */
  async call(name, effect) {
    await this.#point(`before ${name}`);
    try {
      const value = await effect();
      await this.#point(`after ${name}`);
      return value;
    } catch (error) {
      await this.#point(`after failed ${name}`);
      throw error;
    }
  }

  async #point(name) {
    if (!this.isDead) {
      this.points.push(name);
      if (this.points.length !== this.diesAt) return;
      this.isDead = true;
      this.die(false);
    }
    // The rest of the process stays suspended.
    await new Promise(() => {});
  }
}

/** The device's storage. It outlives the processes. */
class SimulatedDisk extends MemoryClientStore {
  corrupt() { this.state = { entries: 7 }; }
}

/** What the user sees. It outlives the processes. */
class SimulatedScreen {
  constructor() {
    /** Each secret as often as it was shown. */
    this.secrets = new Map();
    this.texts = new Set();
    this.visible = new Set();
    this.notices = [];
    this.messages = new Map();
    this.prompts = [];
    this.isPrompting = false;
    this.badge = null;
    this.removed = [];
    this.promptsRemoved = 0;
  }

  /** How often the user was told something, secrets aside. */
  get hints() { return this.notices.length + this.prompts.length; }
}

/** A browser, its user and the server. Processes come and go. */
export class SimulatedDevice {
  /** @param {{seed?: number, configuration?: object}} [options] a seed other than 0: calls take different times */
  constructor({ seed = 0, configuration = {} } = {}) {
    this.clock = new SimulatedClock();
    this.disk = new SimulatedDisk();
    this.screen = new SimulatedScreen();
    this.server = new SimulatedServer(pushKeys);
    this.configuration = configuration;
    /** The browser's subscription to its push service. */
    this.subscription = null;
    /** Requests to which something else happens. */
    this.interceptions = [];
    const random = randomNumbers(seed);
    this.latency = () => (seed === 0 ? 0 : Math.floor(random() * 4) / 100);
    this.noFaults = this.plan('none', 'parse', 'once');
  }

  /**
   * Does something while a request is in flight, such as failing. The server answers unless the effect returns a
   * response.
   *
   * @param {string} prefix of the method and the path with its query
   */
  intercept(prefix, effect, times = 1) { this.interceptions.push({ prefix, effect, left: times }); }

  async #interception(request) {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    const found = this.interceptions.find(({ prefix, left }) => left > 0 && line.startsWith(prefix));
    if (found) found.left -= 1;
    return found?.effect(request);
  }

  plan(fault, stage, length) {
    return new FaultPlan({ fault, stage, length, clock: this.clock, disk: this.disk });
  }

  /** Starts a page or a worker. */
  start({ diesAt = null, faults = this.noFaults } = {}) {
    const process = new SimulatedProcess(diesAt);
    const store = this.#store(process, faults);
    const transport = this.#transport(process, faults);
    const { clock } = this;
    const credentials = new TokenCredentialsProvider({ retrievalURL: SimulatedServer.url, store, transport, clock });
    const client = new SecurePushClient({
      configuration: makeConfiguration(
        { retrievalURL: SimulatedServer.url, pushKeys, encryptsEndToEnd: true, ...this.configuration }),
      credentials, store, transport, clock, presenter: this.#presenter(process, faults), crypto: clock.crypto,
    });
    client.pushManager = async () => ({ getSubscription: async () => this.subscription });
    return { process, client, credentials, worker: new PushWorker({ scope: null, client }) };
  }

  /** The user logs in, in a page that nothing goes wrong in. */
  logIn() { return this.start().credentials.logIn(SimulatedServer.user, SimulatedServer.password); }

  /** The text of a push of the server, signed now. */
  push(id, { withdraw = false, signer = pair } = {}) {
    const ts = String(Math.floor(this.clock.now));
    const text = `securepush-push-v1\n${id}\n${SimulatedServer.user}\n${ts}\n${withdraw ? 'withdraw\n' : ''}`;
    const sig = sign('sha256', Buffer.from(text), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    return JSON.stringify({ secureId: id, ...(withdraw ? { withdraw: '1' } : {}), ts, sig });
  }

  /** The withdrawals that follow when secrets were fetched (`DISPATCH_WITHDRAW=read`) arrive, each in this process. */
  async echoReads(app) {
    for (const id of this.server.read) await this.receive(app(), this.push(id, { withdraw: true }));
  }

  /** A push event in a worker, as the browser sends it. Counts completions. */
  async receive(app, text) {
    const begin = this.clock.uptime;
    const event = { data: messageData(text) };
    let completions = 0;
    await app.worker.onPush(event).then(() => { completions += 1; });
    return { seconds: this.clock.uptime - begin, completions };
  }

  #call(process, name, effect) {
    return process.call(name, async () => {
      await this.clock.sleep(this.latency());
      return effect();
    });
  }

  #store(process, faults) {
    const { disk } = this;
    const call = (name, writes, effect) => this.#call(process, name, async () => {
      await faults.store(writes);
      return effect();
    });
    return {
      read: () => call('read', false, () => disk.read()),
      update: (change) => call('update', true, () => disk.update(change)),
      credentials: () => call('credentials', false, () => disk.credentials()),
      saveCredentials: (value) => call('save credentials', true, () => disk.saveCredentials(value)),
      replaceCredentials: (expected, value) => (
        call('replace credentials', true, () => disk.replaceCredentials(expected, value))),
      deviceKeys: () => call('device keys', false, () => disk.deviceKeys()),
      updateDeviceKeys: (change) => call('update device keys', true, () => disk.updateDeviceKeys(change)),
      rememberEnvelope: (envelope) => call('remember envelope', true, () => disk.rememberEnvelope(envelope)),
      updateAll: (change) => call('update all', true, () => disk.updateAll(change)),
      departures: () => call('departures', false, () => disk.departures()),
      claimLockedNotice: () => this.#call(process, 'claim locked notice', () => disk.claimLockedNotice()),
    };
  }

  #transport(process, faults) {
    const { server, clock } = this;
    return {
      send: (request, { timeout, maxBytes }) => {
        const stage = stageOf(new URL(request.url).pathname);
        return this.#call(process, `${request.method} ${stage}`, async () => {
          await clock.sleep(0.05);
          if (!faults.request(stage)) return (await this.#interception(request)) ?? server.respond(request);
          return failingResponse(faults.fault, request, { server, clock, timeout, maxBytes });
        });
      },
    };
  }

  #presenter(process, faults) {
    const { screen } = this;
    const call = (name, effect) => this.#call(process, name, effect);
    return {
      showSecret: (secret) => call('show secret', async () => {
        await faults.present();
        screen.secrets.set(secret.id, (screen.secrets.get(secret.id) ?? 0) + 1);
        screen.texts.add(secret.text);
        screen.messages.set(secret.id, secret.message);
        screen.visible.add(secret.id);
      }),
      showNotice: (notice) => call('show notice', () => { screen.notices.push(notice); }),
      showPrompt: (prompt) => call('show prompt', () => {
        screen.prompts.push(prompt);
        screen.isPrompting = true;
      }),
      remove: (ids) => call('remove', () => {
        for (const id of ids) screen.visible.delete(id);
        screen.removed.push(...ids);
      }),
      removePrompt: () => call('remove prompt', () => {
        screen.isPrompting = false;
        screen.promptsRemoved += 1;
      }),
      setBadge: (count) => call('set badge', () => { screen.badge = count; }),
      displayedSecrets: () => call('displayed secrets', () => new Set(screen.visible)),
    };
  }
}

/** The stage to which a request belongs. */
function stageOf(path) {
  if (path.endsWith('/api/push-keys')) return 'keys';
  if (path.endsWith('/api/token')) return 'token';
  if (path.includes('/api/installations/')) return 'register';
  if (path.endsWith('/shown') || path.endsWith('/read')) return 'markShown';
  return path.endsWith('/api/notifications') ? 'inbox' : 'fetch';
}
