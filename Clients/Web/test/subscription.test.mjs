import assert from 'node:assert/strict';
import { encodeBase64URL } from '../lib/base64url.js';
import { TransportError } from '../lib/transport.js';
import { PushWorker } from '../securepush-worker.js';
import { pushDevice } from '../securepush.js';
import { answer, proxyAnswer } from './simulation/server.mjs';
import { breaks, logIn, serverKey, simulated, subscription } from './support/simulated.mjs';

const tags = ['news', 'region:eu'];

/** A worker of a browser whose subscription is `current`. */
function startWorker(device, current = null) {
  const app = device.start();
  const browser = { current, subscribed: [], syncs: [] };
  const scope = {
    registration: {
      pushManager: {
        getSubscription: async () => browser.current,
        subscribe: async (options) => {
          browser.subscribed.push(encodeBase64URL(new Uint8Array(options.applicationServerKey)));
          browser.current = subscription('made');
          return browser.current;
        },
      },
      sync: { register: async (tag) => { browser.syncs.push(tag); } },
    },
  };
  return { ...app, browser, worker: new PushWorker({ scope, client: app.client }) };
}

/** Registers the device with tags, as the page does. */
const register = (device) => device.start().client.register(pushDevice(subscription('first'), tags));

const only = (device) => [...device.server.installations.values()];

const events = {
  'old and new': ['second', { oldSubscription: subscription('first'), newSubscription: subscription('second') }, null],
  'new alone': ['second', { newSubscription: subscription('second') }, null],
  'old alone': ['made', { oldSubscription: subscription('first') }, null],
  'old alone, and the browser has the new one': ['third', { oldSubscription: subscription('first') }, 'third'],
  'neither, and the browser has the new one': ['third', {}, 'third'],
  'neither, and the browser has none': ['made', { oldSubscription: null, newSubscription: null }, null],
};

for (const [name, [endpoint, event, current]] of Object.entries(events)) {
  simulated(`a change with ${name} registers the same installation with the same tags`, async (device) => {
    const id = await register(device);
    const { worker, browser } = startWorker(device, current && subscription(current));
    await worker.onSubscriptionChange(event);
    const [sent] = only(device);
    assert.equal(only(device).length, 1);
    assert.equal(sent.installationId, id);
    assert.equal(sent.pushChannel.endpoint, `https://push.example.com/${endpoint}`);
    assert.deepEqual(sent.tags, tags);
    assert.deepEqual(browser.subscribed, endpoint === 'made' ? [encodeBase64URL(serverKey)] : []);
    // The page finds it registered.
    await device.start().client.register(pushDevice(subscription(endpoint), tags));
    assert.equal(device.server.requests('PUT /api/installations'), 2);
  });

  simulated(`a change with ${name} registers nothing that is not registered`, async (device) => {
    const { worker, browser } = startWorker(device, current && subscription(current));
    await worker.onSubscriptionChange(event);
    await register(device);
    await device.start().client.unregister();
    const before = device.server.requests('PUT /api/installations');
    await worker.onSubscriptionChange(event);
    await worker.client.catchUp();
    assert.equal(device.server.requests('PUT /api/installations'), before);
    assert.deepEqual(only(device), []);
    assert.deepEqual(browser.subscribed, []);
  });
}

const failures = {
  'no connection': breaks, 'a time-out': () => { throw new TransportError('timedOut'); }, '503': () => answer(503),
  'a captive portal': () => proxyAnswer(200), '404 of a proxy': () => proxyAnswer(404),
};

for (const [name, effect] of Object.entries(failures)) {
  simulated(`after ${name}, a changed subscription is registered at the next wake`, async (device) => {
    const id = await register(device);
    const { worker, browser } = startWorker(device);
    device.intercept('PUT /api/installations', effect, 100);
    await worker.onSubscriptionChange({ newSubscription: subscription('second') });
    assert.deepEqual(browser.syncs, ['securepush-register']);
    device.interceptions.length = 0;
    browser.current = subscription('second');
    // Another process of the worker.
    const next = startWorker(device, browser.current);
    await next.client.catchUp();
    const [sent] = only(device);
    assert.deepEqual([sent.installationId, sent.pushChannel.endpoint], [id, 'https://push.example.com/second']);
    assert.deepEqual(sent.tags, tags);
    await next.client.catchUp();
    assert.equal(device.server.requests('PUT /api/installations'), 2);
  });
}

simulated('a background sync repeats the registration', async (device) => {
  await register(device);
  const { worker, browser } = startWorker(device, subscription('second'));
  device.intercept('PUT /api/installations', breaks, 100);
  await worker.onSubscriptionChange({});
  const listeners = {};
  worker.scope.addEventListener = (type, listener) => { listeners[type] = listener; };
  worker.attach();
  const sync = () => new Promise((resolve) => {
    listeners.sync({ tag: browser.syncs[0], waitUntil: (work) => resolve(work) });
  });
  await assert.rejects(sync());
  device.interceptions.length = 0;
  await sync();
  assert.equal(only(device)[0].pushChannel.endpoint, 'https://push.example.com/second');
});

simulated('another user gets no registration by a change', async (device) => {
  await register(device);
  const app = startWorker(device);
  await app.credentials.logInWithToken('bob', 'token-of-bob');
  await app.worker.onSubscriptionChange({ newSubscription: subscription('second') });
  await app.credentials.logOut();
  await app.worker.onSubscriptionChange({ newSubscription: subscription('second') });
  assert.equal(device.server.requests('PUT /api/installations'), 1);
  await logIn(app);
});

simulated('a registration that the server refuses is not repeated by itself', async (device) => {
  const { client } = startWorker(device, subscription('first'));
  device.intercept('PUT /api/installations', () => answer(422), 100);
  await assert.rejects(client.register(pushDevice(subscription('first'), tags)), { code: 'SP-422' });
  const before = device.interceptions[0].left;
  await client.catchUp();
  assert.equal(device.interceptions[0].left, before);
});

simulated('a state from a backup gets an ID of its own', async (device) => {
  const first = await register(device);
  // Another browser with a copy of the state, at the same server.
  const one = structuredClone(device.disk.state);
  const second = await device.start().client.register(pushDevice(subscription('of another device'), tags));
  assert.notEqual(second, first);
  device.disk.state = one;
  assert.equal(await register(device), first);
  assert.deepEqual(new Set(device.server.installations.keys()), new Set([first, second]));
});

simulated('a device that was unregistered gets another ID', async (device) => {
  const first = await register(device);
  await device.start().client.unregister();
  assert.notEqual(await register(device), first);
  assert.equal(only(device).length, 1);
});

simulated('a registration that was given up does not undo unregister()', async (device) => {
  await register(device);
  const { worker, client, browser } = startWorker(device);
  device.intercept('PUT /api/installations', breaks, 100);
  await worker.onSubscriptionChange({ newSubscription: subscription('second') });
  device.interceptions.length = 0;
  const { pushManager } = worker.scope.registration;
  const { subscribe } = pushManager;
  pushManager.subscribe = async (options) => {
    await device.clock.sleep(12);
    return subscribe(options);
  };
  await client.catchUp();
  await client.unregister();
  const before = device.server.log.length;
  await device.clock.sleep(60);
  assert.deepEqual(browser.subscribed, [encodeBase64URL(serverKey)]);
  assert.equal(device.server.log.length, before);
  assert.deepEqual(only(device), []);
  assert.equal(device.disk.state.registration.wanted, null);
});

for (const isRenewal of [true, false]) {
  simulated(`unregister() of another process ends a registration in flight, renewal: ${isRenewal}`, async (device) => {
    await register(device);
    const { worker, client } = startWorker(device, subscription('second'));
    device.intercept('PUT /api/installations', () => device.start().client.unregister());
    if (isRenewal) await worker.onSubscriptionChange({ newSubscription: subscription('second') });
    else await assert.rejects(client.register(pushDevice(subscription('first'), [])), { code: 'SP-LOGIN' });
    assert.deepEqual(only(device), []);
    assert.equal(device.disk.state.registration.wanted, null);
    const before = device.server.requests('PUT /api/installations');
    await client.catchUp();
    assert.equal(device.server.requests('PUT /api/installations'), before);
  });
}

simulated('a registration in flight does not count as failed', async (device) => {
  const { client } = startWorker(device, subscription('first'));
  device.intercept('PUT /api/installations', () => device.clock.sleep(2));
  const registering = client.register(pushDevice(subscription('first'), tags));
  await device.clock.sleep(1);
  await client.catchUp();
  await registering;
  assert.equal(device.server.requests('PUT /api/installations'), 1);
  assert.notEqual(device.disk.state.registration.digest, null);
});

simulated('a renewal whose time is up while it waits for a registration does nothing', async (device) => {
  const { client, browser } = startWorker(device);
  device.intercept('PUT /api/installations', breaks, 100);
  const registering = client.register(pushDevice(subscription('first'), tags));
  await device.clock.sleep(1);
  await client.catchUp();
  await assert.rejects(registering);
  await device.clock.sleep(60);
  assert.deepEqual(browser.subscribed, []);
});

simulated('a state from a backup does not unregister the other device', async (device) => {
  const first = await register(device);
  await startWorker(device, subscription('of another device')).client.unregister();
  assert.deepEqual([...device.server.installations.keys()], [first]);
  assert.equal(device.disk.state.registration.installationID, null);
});

for (const [name, answer] of Object.entries({
  'is the registered one': async () => subscription('first'), 'is gone': async () => null,
  'is not known': () => new Promise(() => {}),
})) {
  simulated(`unregister() when the browser's subscription ${name}`, async (device) => {
    await register(device);
    const { worker, client } = startWorker(device);
    worker.scope.registration.pushManager.getSubscription = answer;
    await client.unregister();
    assert.deepEqual(only(device), []);
  });
}

simulated('a state of an older version keeps its ID', async (device) => {
  const id = await register(device);
  delete device.disk.state.registration.endpoint;
  delete device.disk.state.registration.wanted;
  assert.equal(await device.start().client.register(pushDevice(subscription('second'), tags)), id);
});
