import assert from 'node:assert/strict';
import { SecurePushClient } from '../../lib/client.js';
import { makeConfiguration } from '../../lib/configuration.js';
import { TokenCredentialsProvider } from '../../lib/credentials.js';
import { IncomingPush } from '../../lib/push.js';
import { ClientStoreError, MemoryClientStore } from '../../lib/store.js';
import { TransportError } from '../../lib/transport.js';
import { PushWorker } from '../../securepush-worker.js';
import { SimulatedClock } from './clock.mjs';
import { messageData } from './device.mjs';

const milliseconds = (seconds) => Math.round(seconds * 1000);

/** The store of a scenario, with the faults of the wake that goes on. */
class FaultyStore extends MemoryClientStore {
  faults = [];

  /** @param {object[]} faults those of a wake */
  begin(faults) {
    this.faults = faults.filter((fault) => fault.part === 'store')
      .map((fault) => ({ ...fault, left: fault.times ?? Infinity }));
  }

  #check(isChange) {
    if (this.faults.some((fault) => fault.error === 'locked')) throw new ClientStoreError('locked');
    const unwritable = isChange && this.faults.find((fault) => fault.error === 'unwritable' && fault.left > 0);
    if (!unwritable) return;
    unwritable.left -= 1;
    throw new ClientStoreError('unwritable');
  }

  async read() { this.#check(false); return super.read(); }
  async update(change) { this.#check(true); return super.update(change); }
  async credentials() { this.#check(false); return super.credentials(); }
  async saveCredentials(value) { this.#check(true); return super.saveCredentials(value); }

  async replaceCredentials(expected, value) {
    this.#check(true);
    return super.replaceCredentials(expected, value);
  }

  async deviceKeys() { this.#check(false); return super.deviceKeys(); }
}

/** A scripted server, and the transport to it. */
class ScriptedServer {
  constructor(rules, clock) {
    this.rules = rules.map((rule) => ({ ...rule, left: [...rule.answers] }));
    this.clock = clock;
    this.requests = [];
    this.strays = [];
  }

  async send(request, { timeout, maxBytes }) {
    const url = new URL(request.url);
    if (url.origin !== 'https://push.example.com') this.strays.push(request.url);
    const query = Object.fromEntries(url.searchParams);
    this.requests.push({
      at: this.clock.uptime, method: request.method, path: url.pathname, query,
      authorization: request.headers.Authorization ?? null,
    });
    const rule = this.rules.find((candidate) => candidate.method === request.method && candidate.path === url.pathname
      && Object.entries(candidate.query).every(([name, value]) => query[name] === value));
    const answer = rule ? rule.left.shift() ?? rule.then : { afterMs: 50, status: 404, headers: {}, body: '' };
    const seconds = answer.hangs ? 600 : answer.afterMs / 1000;
    // What comes at the time-out or later comes too late; the client does not wait for it.
    await this.clock.sleep(seconds < timeout ? seconds : 600);
    if (answer.error) throw new TransportError(answer.error);
    const body = answer.bodyBytes === undefined
      ? new TextEncoder().encode(answer.body) : new Uint8Array(answer.bodyBytes).fill(0x78);
    if (body.length > maxBytes) throw new TransportError('tooLarge');
    const headers = Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]));
    return { status: answer.status, headers, body };
  }
}

/** What the user is shown in one wake. */
const emptyRecord = () => ({ shown: [], generic: [], prompts: [], locked: 0, badge: null });

/** Runs a scenario, and compares each of its wakes. */
export async function runScenario(scenario) {
  const clock = new SimulatedClock({ now: scenario.dateMs / 1000 });
  await clock.run(() => play(scenario, clock));
}

async function play(scenario, clock) {
  const { configuration, credentials: known } = scenario;
  const store = new FaultyStore();
  if (known) {
    store.stored = {
      userName: scenario.user, accessToken: known.accessToken, refreshToken: known.refreshToken,
      expiresAt: known.expiresAtMs === null ? null : known.expiresAtMs / 1000,
    };
  }
  const server = new ScriptedServer(scenario.server, clock);
  const view = { record: emptyRecord(), refusals: 0, secrets: new Set(), notices: new Set(), prompt: false };
  const retrievalURL = configuration.retrievalUrl;
  const start = () => {
    const credentials = new TokenCredentialsProvider({ retrievalURL, store, transport: server, clock });
    const client = new SecurePushClient({
      configuration: makeConfiguration({ retrievalURL, pushKeys: configuration.pushKeys }), credentials, store,
      transport: server, clock, presenter: presenter(view), crypto: clock.crypto,
    });
    return { credentials, client };
  };
  let process = start();
  for (const [index, wake] of scenario.wakes.entries()) {
    await clock.sleep(wake.afterMs / 1000);
    const faults = scenario.faults.filter((fault) => fault.wake === index);
    for (const fault of faults) if (fault.part === 'clock') clock.dateOffset += fault.jumpMs / 1000;
    if (faults.some((fault) => fault.error === 'damaged')) store.state = { entries: 7 };
    if (faults.some((fault) => ['damaged', 'restarted'].includes(fault.error))) process = start();
    store.begin(faults);
    const refused = faults.find((fault) => fault.part === 'presenter');
    Object.assign(view, { record: emptyRecord(), refusals: refused ? refused.times ?? Infinity : 0 });
    server.requests = [];
    const begin = clock.uptime;
    const { report, completions } = await run(wake, process);
    const completedAtMs = milliseconds(clock.uptime - begin);
    store.begin([]);
    const seen = {
      completions, completedAtMs, code: report?.code ?? null, result: report?.result,
      requests: server.requests.map(({ at, ...request }) => ({ atMs: milliseconds(at - begin), ...request })),
      ...view.record, waiting: await process.client.waiting(),
      screen: { secrets: [...view.secrets].sort(), generic: [...view.notices].sort(), prompt: view.prompt },
    };
    assert.deepEqual(seen, wake.expect, `wake ${index}`);
    assert.deepEqual(server.strays, []);
  }
}

async function run(wake, { client, credentials }) {
  if (wake.kind === 'logIn') {
    try {
      await credentials.logIn(wake.userName, wake.password);
    } catch (error) {
      return { report: { code: error.code, result: 'failed' }, completions: 1 };
    }
  }
  if (wake.kind === 'logIn' || wake.kind === 'catchUp') {
    const report = wake.kind === 'logIn' ? await client.resumeAfterLogIn() : await client.catchUp();
    return { report, completions: 1 };
  }
  let completions = 0;
  let report = null;
  const worker = new PushWorker({ scope: null, client });
  const handle = worker.handle.bind(worker);
  worker.handle = async (push) => { report = await handle(push); };
  const work = worker.onPush({ data: messageData(JSON.stringify(wake.push)) }).then(() => { completions += 1; });
  await work;
  // A push without `secureId` belongs to another part of the app, and the worker does not ask the client.
  report ??= await client.handle(IncomingPush.fromText(JSON.stringify(wake.push)));
  return { report, completions };
}

const presenter = (view) => ({
  showSecret: async ({ id, text }) => {
    if (view.refusals > 0) {
      view.refusals -= 1;
      throw new TypeError('No permission.');
    }
    view.record.shown.push({ id, text });
    view.secrets.add(id);
    view.notices.delete(id);
  },
  showNotice: async ({ id, code, localizationKey }) => {
    if (localizationKey === 'securepush.locked') {
      view.record.locked += 1;
      return;
    }
    view.record.generic.push({ id, code });
    if (id !== null) view.notices.add(id);
  },
  showPrompt: async ({ ids, code }) => {
    view.record.prompts.push({ ids, code });
    view.prompt = true;
  },
  remove: async (ids) => {
    for (const id of ids) {
      view.secrets.delete(id);
      view.notices.delete(id);
    }
  },
  removePrompt: async () => { view.prompt = false; },
  setBadge: async (count) => { view.record.badge = count; },
  displayedSecrets: async () => new Set(view.secrets),
});
