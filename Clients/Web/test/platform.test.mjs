import assert from 'node:assert/strict';
import test from 'node:test';
import { SecurePushClient } from '../lib/client.js';
import { makeConfiguration } from '../lib/configuration.js';
import { FixedCredentialsProvider, TokenCredentialsProvider } from '../lib/credentials.js';
import { IndexedDBStore } from '../lib/indexeddb-store.js';
import { WebNotificationPresenter } from '../lib/presenter.js';
import { IncomingPush } from '../lib/push.js';
import { emptyState } from '../lib/state.js';
import { MemoryClientStore } from '../lib/store.js';
import { subscribeToPush } from '../lib/subscription.js';
import { PushWorker } from '../securepush-worker.js';
import { messageData } from './simulation/device.mjs';
import { SimulatedServer } from './simulation/server.mjs';
import { browser, simulated } from './support/simulated.mjs';

const never = () => new Promise(() => {});
/** An IndexedDB request, or a database, whose events never come. */
const silent = { open: () => ({}) };

/** An IndexedDB whose database is open; `database` replaces its members. */
const opened = (database) => ({
  open() {
    const request = { result: database };
    queueMicrotask(() => request.onsuccess());
    return request;
  },
});

const transaction = { objectStore: () => ({ get: () => ({}), put: () => ({}), delete: () => ({}) }) };
const fail = (name) => { throw new DOMException('Not here.', name); };

/** Stores of a browser that does not answer. */
const hangs = {
  'open never ends': () => new IndexedDBStore('x', silent),
  'a transaction never ends': () => new IndexedDBStore('x', opened({ transaction: () => transaction, close() {} })),
  'no call of a store ends': () => new Proxy({}, { get: () => never }),
  'only writes hang': () => Object.assign(new MemoryClientStore(), { update: never }),
};

/** Stores of a browser that has no storage for this site. */
const throwing = {
  'open throws SecurityError': () => new IndexedDBStore('x', { open: () => fail('SecurityError') }),
  'open throws UnknownError': () => new IndexedDBStore('x', { open: () => fail('UnknownError') }),
  'there is no IndexedDB': () => new IndexedDBStore('x', /** @type {any} */ (null)),
  'open returns nothing': () => new IndexedDBStore('x', { open: () => null }),
  'a transaction throws': () => (
    new IndexedDBStore('x', opened({ transaction: () => fail('InvalidStateError'), close() {} }))),
  'the table is missing': () => new IndexedDBStore('x', opened({
    transaction: () => ({ objectStore: () => fail('NotFoundError') }), close() {},
  })),
  'a store throws anything': () => new Proxy({}, { get: () => () => { throw new TypeError('no store'); } }),
};

/** A client on a part of the browser that does not work. The others do. */
function start(device, { store = new MemoryClientStore(), presenter = {}, credentials = undefined, pushKeys = null }) {
  const { screen, server, clock } = device;
  const working = {
    showSecret: async ({ id, text }) => { screen.secrets.set(id, text); },
    showNotice: async (notice) => { screen.notices.push(notice); },
    showPrompt: async (prompt) => { screen.prompts.push(prompt); },
    remove: async () => {}, removePrompt: async () => {}, displayedSecrets: async () => new Set(),
    setBadge: async (count) => { screen.badge = count; },
  };
  return new SecurePushClient({
    configuration: makeConfiguration({ retrievalURL: SimulatedServer.url, pushKeys }),
    credentials: credentials
      ?? new FixedCredentialsProvider('alice', { kind: 'bearer', token: server.tokens().access }),
    store, clock, presenter: presenter.showSecret === null ? presenter : { ...working, ...presenter },
    transport: { send: async (request) => server.respond(request) }, crypto: clock.crypto,
  });
}

const push = (id) => IncomingPush.fromText(JSON.stringify({ secureId: id }));

/** Runs a call, and returns its result and how long it took. */
async function timed(device, work) {
  const begin = device.clock.uptime;
  const result = await work().catch((error) => error);
  return { result, seconds: device.clock.uptime - begin };
}

for (const [name, makeStore] of Object.entries({ ...hangs, ...throwing })) {
  simulated(`${name}: the secret is shown all the same`, async (device) => {
    const id = device.server.send('The code is 4711.');
    const client = start(device, { store: makeStore() });
    const { result, seconds } = await timed(device, () => client.handle(push(id)));
    assert.deepEqual([...device.screen.secrets], [[id, 'The code is 4711.']]);
    assert.deepEqual(result.shown, [id]);
    assert.deepEqual(device.screen.notices, []);
    assert.ok(seconds <= 25.1, `${seconds} s`);
  });

  simulated(`${name}: without credentials the generic text comes in time`, async (device) => {
    const id = device.server.send();
    const store = makeStore();
    const { clock, server } = device;
    const credentials = new TokenCredentialsProvider({
      retrievalURL: SimulatedServer.url, store, clock, transport: { send: async (request) => server.respond(request) },
    });
    for (const pushKeys of [null, server.pushKeys]) {
      device.screen.notices = [];
      const client = start(device, { store, credentials, pushKeys });
      const { seconds } = await timed(device, () => client.handle(push(id)));
      // Nobody has logged in where the store can be read.
      if (name === 'only writes hang') continue;
      assert.equal(device.screen.notices[0]?.code, 'SP-CREDENTIALS');
      assert.ok(seconds <= 25.1, `${seconds} s`);
    }
  });

  simulated(`${name}: registration, log-out and the app's start end`, async (device) => {
    const client = start(device, { store: makeStore() });
    for (const call of ['register', 'catchUp', 'waiting', 'unregister']) {
      const { seconds } = await timed(device, () => client[call](browser));
      assert.ok(seconds <= 25.1, `${call}: ${seconds} s`);
    }
    const { clock, server } = device;
    const credentials = new TokenCredentialsProvider({
      retrievalURL: SimulatedServer.url, store: makeStore(), clock,
      transport: { send: async (request) => server.respond(request) },
    });
    const { seconds } = await timed(device, () => credentials.logOut());
    assert.ok(seconds <= 25.1, `logOut: ${seconds} s`);
  });
}

for (const member of ['showSecret', 'setBadge', 'displayedSecrets', 'remove', 'showNotice']) {
  simulated(`a presenter whose ${member} never ends`, async (device) => {
    const id = device.server.send();
    const client = start(device, { presenter: { [member]: never } });
    const { result, seconds } = await timed(device, () => client.handle(push(id)));
    assert.ok(seconds <= 25.1, `${seconds} s`);
    if (member === 'showSecret') assert.equal(device.screen.notices[0]?.code, 'SP-SHOW');
    else assert.deepEqual(result.shown, [id]);
  });
}

simulated('a page without a service worker: ready never ends', async (device) => {
  const id = device.server.send();
  const presenter = new WebNotificationPresenter({ registration: never, navigator: {} });
  const client = start(device, {
    presenter: Object.fromEntries(['showSecret', 'showNotice', 'showPrompt', 'remove', 'removePrompt',
      'displayedSecrets'].map((name) => [name, (value) => presenter[name](value)])),
  });
  const { result, seconds } = await timed(device, () => client.handle(push(id)));
  assert.equal(result.code, 'SP-SHOW');
  assert.ok(seconds <= 25.1, `${seconds} s`);
});

simulated('the badge is set after the secret is shown', async (device) => {
  const id = device.server.send();
  const calls = [];
  const client = start(device, {
    presenter: { showSecret: async () => { calls.push('secret'); }, setBadge: async () => { calls.push('badge'); } },
  });
  await client.handle(push(id));
  assert.deepEqual(calls.slice(0, 2), ['secret', 'badge']);
});

for (const call of ['userName', 'credentials']) {
  simulated(`a provider of the app whose ${call} never ends`, async (device) => {
    const id = device.server.send();
    const fixed = new FixedCredentialsProvider('alice', { kind: 'bearer', token: device.server.tokens().access });
    const credentials = { userName: () => fixed.userName(), credentials: () => fixed.credentials(), [call]: never };
    const client = start(device, { credentials });
    const { seconds } = await timed(device, () => client.handle(push(id)));
    assert.ok(seconds <= 25.1, `${seconds} s`);
    assert.equal(device.screen.secrets.size + device.screen.notices.length, 1);
    for (const name of ['register', 'unregister']) {
      const end = await timed(device, () => client[name](browser));
      assert.ok(end.seconds <= 25.1, `${name}: ${end.seconds} s`);
    }
  });
}

simulated('a store that answers again is used again', async (device) => {
  const id = device.server.send();
  const store = new MemoryClientStore();
  let isSilent = true;
  const broken = new Proxy(store, {
    get: (target, name) => (typeof target[name] !== 'function' || !isSilent
      ? Reflect.get(target, name) : never),
  });
  const client = start(device, { store: broken });
  await client.handle(push(id));
  assert.deepEqual(await store.read(), emptyState());
  isSilent = false;
  await client.catchUp();
  // The push again, in a new process.
  await start(device, { store }).handle(push(id));
  assert.equal(device.server.requests(`GET /api/notifications/${id}`), 1);
});

simulated('a store that could not be read for a while keeps its installation ID', async (device) => {
  const store = new MemoryClientStore();
  const id = await start(device, { store }).register(browser);
  let isBroken = true;
  const broken = new Proxy(store, {
    get: (target, name) => (isBroken && typeof target[name] === 'function'
      ? () => { throw new TypeError('no store'); } : Reflect.get(target, name)),
  });
  const client = start(device, { store: broken });
  await client.handle(push(device.server.send()));
  isBroken = false;
  await client.catchUp();
  assert.equal(await client.register(browser), id);
  assert.equal(device.server.requests('PUT /api/installations'), 1);
});

simulated('an IndexedDB that did not open is opened anew', async (device) => {
  const id = device.server.send();
  let count = 0;
  const store = new IndexedDBStore('x', { open: () => { count += 1; return {}; } });
  await start(device, { store }).handle(push(id));
  assert.ok(count > 1, `opened ${count} times`);
});

simulated('the worker shows the generic text if everything hangs but the screen', async (device) => {
  const id = device.server.send();
  const client = start(device, { store: new Proxy({}, { get: () => never }), credentials: {
    userName: never, credentials: never, refresh: never,
  } });
  const worker = new PushWorker({ scope: null, client });
  const { seconds } = await timed(device, () => worker.onPush({ data: messageData(JSON.stringify({ secureId: id })) }));
  assert.equal(device.screen.notices.length, 1);
  assert.ok(seconds <= 25.1, `${seconds} s`);
});

test('a push manager that never answers ends the subscription', async () => {
  const key = 'B'.padEnd(87, 'A');
  for (const pushManager of [
    { getSubscription: never, subscribe: never }, { getSubscription: async () => null, subscribe: never },
    { getSubscription: async () => ({ options: {}, unsubscribe: never }), subscribe: never },
  ]) {
    await assert.rejects(subscribeToPush({ pushManager }, key, { timeout: 0.01 }), { name: 'AbortError' });
  }
});
