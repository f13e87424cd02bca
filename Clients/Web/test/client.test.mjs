import assert from 'node:assert/strict';
import test from 'node:test';
import { readInboxPage, readSecretAnswer } from '../lib/answers.js';
import { decodeBase64URL, encodeBase64URL } from '../lib/base64url.js';
import { makeConfiguration } from '../lib/configuration.js';
import { TokenCredentialsProvider } from '../lib/credentials.js';
import { DeviceKey } from '../lib/device-key.js';
import { WebNotificationPresenter } from '../lib/presenter.js';
import { MemoryClientStore } from '../lib/store.js';
import { FetchPlan } from '../lib/fetch-plan.js';
import { FetchTransport } from '../lib/transport.js';
import { IncomingPush } from '../lib/push.js';
import { PushWorker } from '../securepush-worker.js';
import { messageData } from './simulation/device.mjs';
import { answer } from './simulation/server.mjs';
import { browser, simulated } from './support/simulated.mjs';

const bytes = (text) => new TextEncoder().encode(text);
const { channel } = browser;

simulated('a push shows the secret, sets the badge and reports it', async (device) => {
  const id = device.server.send('The code is 4711.');
  const report = await device.start().client.handle(IncomingPush.fromText(device.push(id)));
  assert.deepEqual(report, { result: 'newData', shown: [id], waiting: [], code: null });
  assert.deepEqual([...device.screen.texts], ['The code is 4711.']);
  assert.equal(device.screen.badge, 0);
  assert.equal(device.server.requests(`POST /api/notifications/${id}/shown`), 1);
});

simulated('without credentials the prompt waits, and the log-in shows the secret', async (device) => {
  device.server.endSessions();
  const id = device.server.send();
  const { client } = device.start();
  assert.equal((await client.handle(IncomingPush.fromText(device.push(id)))).code, 'SP-401');
  assert.deepEqual(device.screen.prompts, [{ ids: [id], localizationKey: 'securepush.log-in', code: 'SP-401' }]);
  assert.deepEqual(await client.waiting(), [id]);
  await device.logIn();
  assert.deepEqual((await device.start().client.resumeAfterLogIn()).shown, [id]);
  assert.equal(device.screen.isPrompting, false);
});

simulated('an unsigned push causes no request', async (device) => {
  const id = device.server.send();
  const before = device.server.log.length;
  const report = await device.start().client.handle(IncomingPush.fromText(JSON.stringify({ secureId: id })));
  assert.equal(report.code, 'SP-SIGNATURE');
  assert.equal(device.server.log.length, before);
  assert.equal(device.screen.hints, 0);
});

simulated('a withdrawal removes what another device has read first, and nothing else', async (device) => {
  const [first, second] = [device.server.send(), device.server.send()];
  device.server.stored[0].isRead = true;
  const { client } = device.start();
  for (const id of [first, second]) await client.handle(IncomingPush.fromText(device.push(id)));
  for (const id of [first, second]) await client.handle(IncomingPush.fromText(device.push(id, { withdraw: true })));
  assert.deepEqual([...device.screen.visible], [second]);
  device.server.stored.pop();
  await client.handle(IncomingPush.fromText(device.push(second, { withdraw: true })));
  assert.deepEqual([...device.screen.visible], []);
});

simulated('registration keeps its ID, is renewed, and gets a new ID after 410', async (device) => {
  const { client } = device.start();
  const id = await client.register({ platform: 'browser', channel });
  const sent = device.server.installations.get(id);
  assert.deepEqual(sent, { installationId: id, platform: 'browser', pushChannel: channel });
  assert.deepEqual(Object.keys(device.server.keys.get(id)), ['kty', 'crv', 'x', 'y']);
  assert.equal(await client.register({ platform: 'browser', channel }), id);
  assert.equal(device.server.requests('PUT /api/installations'), 1);
  assert.equal(device.server.requests('PUT /api/devices'), 2);
  device.clock.dateOffset += 8 * 86_400;
  device.server.revokeAccessTokens();
  assert.equal(await device.start().client.register({ platform: 'browser', channel }), id);
  device.server.refusals.set(id, 410);
  const next = await client.register({ platform: 'browser', channel: { ...channel, auth: 'BB' } });
  assert.notEqual(next, id);
  await client.unregister();
  assert.equal(device.server.installations.has(next), false);
  assert.deepEqual(await device.disk.deviceKeys(), []);
});

simulated('marking as read removes notifications from the screen', async (device) => {
  const ids = [device.server.send(), device.server.send()];
  const { client } = device.start();
  await client.catchUp();
  await client.markAsRead(ids);
  assert.deepEqual(device.screen.removed, ids);
  assert.equal(device.screen.badge, 0);
});

simulated('another user does not see the notifications of the last one', async (device) => {
  const id = device.server.send();
  await device.start().client.handle(IncomingPush.fromText(device.push(id)));
  const app = device.start();
  await app.credentials.logInWithToken('bob', 'token-of-bob');
  await app.client.catchUp();
  assert.deepEqual([...device.screen.visible], []);
});

simulated('a secret that the generic text has replaced waits for the next wake', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  const { credentials } = client.connection;
  client.connection.credentials = {
    credentials: async () => {
      await device.clock.sleep(24);
      return credentials.credentials();
    },
  };
  const { presenter } = client;
  const { showSecret } = presenter;
  presenter.showSecret = async (secret) => {
    await device.clock.sleep(3);
    await showSecret.call(presenter, secret);
  };
  const { code, waiting } = await client.handle(IncomingPush.fromText(device.push(id)));
  assert.deepEqual([code, waiting, device.screen.notices.length], ['SP-TIMEOUT', [id], 1]);
  await device.clock.sleep(10);
  assert.deepEqual(await client.waiting(), [id]);
  assert.deepEqual(device.disk.state.unreported, []);
  assert.deepEqual((await device.start().client.catchUp()).shown, [id]);
});

test('a payload keeps its text, with numbers that JavaScript cannot hold', () => {
  const json = '{"n": 12345678901234567890.10, "s":"\\ud83d\\ude00"}';
  const { secret, unread } = readSecretAnswer(bytes(`{"Payload": ${json} ,"Id":"a","Read":true,"Unread":3}`), 'a');
  assert.deepEqual(secret, { id: 'a', json, wasRead: true, display: 'full', expiresAt: null });
  assert.equal(unread, 3);
});

test('answers that are not as they should be are refused', () => {
  const bad = [
    '', '[]', '{}', '{"Id":"a"}', '{"Id":7,"Payload":1}', '{"Id":"a","Payload":01}',
    '{"Id":"a","Payload":1,"Payload":2}', '{"Id":"a","Payload":1} x', '\uFEFF{"Id":"a","Payload":1}',
    '{"Id":"a","Payload":"x\\ud800"}', '{"Id":"a","Payload":{"\\udc00":1}}',
    '{"Id":"a","Payload":1,"Read":null}', '{"Id":"a","Payload":1,"Unread":-1}', '{"Id":"a","Payload":1,"Unread":1e3}',
    `{"Id":"a","Payload":${'['.repeat(200)}${']'.repeat(200)}}`,
  ];
  for (const text of bad) assert.throws(() => readSecretAnswer(bytes(text), 'a'), { code: 'SP-JSON' }, text);
  assert.throws(() => readSecretAnswer(bytes('{"Id":"b","Payload":1}'), 'a'), { code: 'SP-ID' });
  const page = (count) => `{"Notifications":[${Array(count).fill('{"Id":"a","Read":false}')}],"Unread":0}`;
  assert.equal(readInboxPage(bytes(page(200))).entries.length, 200);
  assert.throws(() => readInboxPage(bytes(page(201))), { code: 'SP-JSON' });
});

test('base64url is strict', () => {
  for (const text of ['', 'AA', 'AAA', '_-8', 'AQID']) assert.equal(encodeBase64URL(decodeBase64URL(text)), text);
  for (const text of ['A', 'AB', 'AA==', '+/8', 'A A', 'AAAAA', null, 7]) {
    assert.equal(decodeBase64URL(text), null, text);
  }
});

test('a configuration takes no address with credentials', () => {
  const { retrievalURL, encryptsEndToEnd } = makeConfiguration({ retrievalURL: 'https://push.example.com/base/' });
  assert.equal(encryptsEndToEnd, false);
  assert.equal(retrievalURL, 'https://push.example.com/base');
  for (const url of ['https://a:b@c.example', 'javascript:1', 'https://c.example/?x', 'c.example']) {
    assert.throws(() => makeConfiguration({ retrievalURL: url }), TypeError);
  }
  assert.throws(() => makeConfiguration({ retrievalURL: 'https://c.example', pushKeys: { keys: [] } }), TypeError);
});

test('an address without TLS is taken for this machine only, or where the app allows it', () => {
  const store = new MemoryClientStore();
  for (const host of ['c.example', '10.0.0.1', 'localhost.example', '127.0.0.1.example', '[fe80::1]']) {
    const retrievalURL = `http://${host}:8082`;
    assert.throws(() => makeConfiguration({ retrievalURL }), TypeError, host);
    assert.throws(() => new TokenCredentialsProvider({ retrievalURL, store, transport: null }), TypeError, host);
    assert.equal(makeConfiguration({ retrievalURL, allowsInsecure: true }).retrievalURL, retrievalURL);
    assert.ok(new TokenCredentialsProvider({ retrievalURL, store, transport: null, allowsInsecure: true }));
  }
  for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
    assert.equal(makeConfiguration({ retrievalURL: `http://${host}` }).retrievalURL, `http://${host}`);
  }
});

test('the private key cannot be read', async () => {
  const key = await DeviceKey.generate(0);
  assert.equal(key.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey('jwk', key.privateKey));
});

test('a page push is taken only where the app allows it, and others go to the app', async () => {
  const listeners = {};
  const scope = { addEventListener: (name, listener) => { listeners[name] = listener; } };
  const handled = [];
  const presenter = { shows: 0 };
  const client = { presenter, handle: async (push) => { presenter.shows += handled.push(push.id); } };
  const foreign = [];
  const message = { data: { kind: 'securepush.push', text: '{"secureId":"a"}' }, waitUntil: () => {} };
  new PushWorker({ scope, client, onForeignPush: async () => { foreign.push(1); } }).attach();
  listeners.message(message);
  assert.deepEqual(handled, []);
  let work;
  listeners.push({ data: messageData('{"other":1}'), waitUntil: (promise) => { work = promise; } });
  await work;
  assert.deepEqual([handled, foreign], [[], [1]]);
  new PushWorker({ scope, client, acceptsPagePushes: true }).attach();
  listeners.message(message);
  assert.deepEqual(handled, ['a']);
});

test('an error that nobody expected ends in the generic text', async () => {
  const notices = [];
  const client = {
    handle: async () => { throw new RangeError(); },
    configuration: makeConfiguration({ retrievalURL: 'https://a.example' }),
    presenter: { showNotice: async (notice) => { notices.push(notice); } },
  };
  await new PushWorker({ scope: null, client }).onPush({ data: messageData('{"secureId":"a"}') });
  assert.deepEqual(notices.map((notice) => notice.localizationKey), ['securepush.generic']);
});

test('the transport follows no redirect, sends no cookies, and stops at the limit', async () => {
  const calls = [];
  const transport = new FetchTransport(async (url, options) => {
    calls.push(options);
    return new Response(new Uint8Array(3_000));
  });
  const request = { method: 'GET', url: 'https://a.example', headers: {}, body: null };
  const { signal } = new AbortController();
  assert.equal((await transport.send(request, { timeout: 1, maxBytes: 3_000, signal })).body.length, 3_000);
  await assert.rejects(transport.send(request, { timeout: 1, maxBytes: 2_999, signal }), { reason: 'tooLarge' });
  const { credentials, redirect, cache, referrerPolicy } = calls[0];
  assert.deepEqual([credentials, redirect, cache, referrerPolicy], ['omit', 'manual', 'no-store', 'no-referrer']);
  const failing = new FetchTransport(async () => { throw new TypeError('Failed to fetch'); });
  await assert.rejects(failing.send(request, { timeout: 1, maxBytes: 1, signal }), { reason: 'unreachable' });
});

test('notifications are shown under one identifier each, and only ours are removed', async () => {
  const shown = new Map();
  const registration = {
    showNotification: async (title, options) => {
      shown.set(options.tag, { title, ...options, close: () => shown.delete(options.tag) });
    },
    getNotifications: async () => [...shown.values()],
  };
  await registration.showNotification('other', { tag: 'other', data: null });
  const badges = [];
  const navigator = { setAppBadge: async (n) => { badges.push(n); }, clearAppBadge: async () => { badges.push(0); } };
  const presenter = new WebNotificationPresenter({ registration: () => registration, title: 'App', navigator });
  await presenter.showNotice({ id: 'a', localizationKey: 'securepush.generic', code: 'SP-TIMEOUT' });
  assert.match(shown.get('a').body, /Open the app to read it\. \(SP-TIMEOUT\)/);
  await presenter.showSecret({ id: 'a', text: 'x'.repeat(2_000), json: '', wasRead: false });
  assert.equal(shown.get('a').body.length, 1_001);
  await presenter.showPrompt({ ids: ['b'], localizationKey: 'securepush.log-in', code: 'SP-401' });
  assert.deepEqual([...await presenter.displayedSecrets()], ['a']);
  await presenter.removePrompt();
  await presenter.remove(['a', 'c']);
  assert.deepEqual([...shown.keys()], ['other']);
  await presenter.setBadge(3);
  await presenter.setBadge(0);
  assert.deepEqual(badges, [3, 0]);
});

simulated('the generic text replaces a listed notification whose fetch ends with the wake', async (device) => {
  const { client } = device.start();
  device.intercept('GET /api/notifications?', () => answer(503, null, { 'retry-after': '20' }));
  const id = device.server.send();
  device.intercept(`GET /api/notifications/${id}`, () => device.clock.sleep(600), 9);
  assert.equal((await client.catchUp()).code, 'SP-TIMEOUT');
  await device.clock.sleep(1);
  assert.deepEqual([device.screen.notices.map((notice) => notice.id), await client.waiting()], [[id], [id]]);
  device.interceptions.length = 0;
  assert.deepEqual((await client.catchUp()).shown, [id]);
});

simulated('the generic text replaces what a slow store leaves no time for', async (device) => {
  const { client } = device.start();
  device.intercept('GET /api/notifications?', () => answer(503, null, { 'retry-after': '20' }));
  device.intercept('GET /api/notifications?', async () => {
    await device.clock.sleep(4.845);
    device.latency = () => 0.004;
  });
  const id = device.server.send();
  assert.equal((await client.catchUp()).code, 'SP-TIMEOUT');
  assert.deepEqual(device.screen.notices.map((notice) => notice.id), [id]);
});

test('a try begins with exactly 500 ms left, whatever the sums of seconds are', () => {
  const plan = new FetchPlan(2.03, 8);
  assert.equal(plan.timeout(1.53), 0.5);
  assert.equal(plan.timeout(1.531), null);
  assert.deepEqual(plan.step({ kind: 'noCredentials' }, 0.531), { kind: 'finish' });
  assert.deepEqual(plan.step({ kind: 'noCredentials' }, 0.53), { kind: 'retry', after: 1 });
});
