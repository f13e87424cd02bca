import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { makeConfiguration } from '../lib/configuration.js';
import { sdk } from '../lib/version.js';
import { answer } from './simulation/server.mjs';
import { breaks, browser, push, simulated } from './support/simulated.mjs';
import { IncomingPush } from '../lib/push.js';

const actions = [{ Id: 'approve', Title: 'Approve' }, { Id: 'reply', Title: 'Reply', Input: true }];
const message = {
  Title: 'Log-in', Body: 'Somebody logs in. Is it you?', Link: 'https://app.example.org/log-ins', Category: 'log-in',
  Thread: 'log-ins', Level: 'time-sensitive', Actions: actions, Data: { n: 1 },
};
const at = (device, seconds) => new Date((device.clock.now + seconds) * 1000).toISOString();
const hidden = (id) => ({ id, localizationKey: 'securepush.hidden', code: null });

simulated('a message is shown with what its sender says', async (device) => {
  const id = device.server.send(message);
  const { client } = device.start();
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.deepEqual([...device.screen.texts], [message.Body]);
  const expected = {
    title: 'Log-in', body: message.Body, link: message.Link, category: 'log-in', thread: 'log-ins', level: 'time-sensitive',
    actions: [{ id: 'approve', title: 'Approve', takesText: false }, { id: 'reply', title: 'Reply', takesText: true }], data: '{"n":1}',
  };
  assert.deepEqual(device.screen.messages.get(id), expected);
  assert.deepEqual((await client.read(id)).message, expected);
});

for (const value of [{ a: 1 }, 7, false, { Body: 7 }, { Body: 'x', Level: 'loud' }]) {
  simulated(`${JSON.stringify(value)} is for the app`, async (device) => {
    const id = device.server.send(value);
    const { client } = device.start();
    const report = await push(device, client, id);
    assert.deepEqual([report.result, report.code, report.shown, await client.waiting()], ['newData', null, [], []]);
    await push(device, client, id);
    assert.deepEqual(device.screen.notices, [hidden(id)]);
    const { text, message: found, json } = await client.read(id);
    assert.deepEqual([text, found, JSON.parse(json)], [null, null, value]);
  });
}

for (const [own, wish, shows] of [
  ['full', undefined, true], ['full', 'full', true], ['full', 'redacted', false], ['full', 'app', false],
  ['redacted', undefined, false], ['app', 'full', false], ['redacted', 'app', false], ['full', 'of a later version', false],
]) {
  simulated(`with the display ${own} and the sender's ${wish} the system gets the ${shows ? '' : 'generic '}text`, async (device) => {
    const { client } = device.start();
    await client.register(browser);
    const id = device.server.send('The code is 4711.', wish && { Display: wish });
    const report = await push(device, client, id);
    assert.equal(report.code, null);
    assert.deepEqual([report.shown, [...device.screen.texts]], shows ? [[id], ['The code is 4711.']] : [[], []]);
    assert.deepEqual(device.screen.notices, shows ? [] : [hidden(id)]);
    const DeviceId = [...device.server.installations.keys()][0];
    const generic = shows ? [] : [{ id, Text: 'generic', Sdk: sdk, DeviceId }];
    const shown = [{ id, Text: 'secret', Sdk: sdk, DeviceId }];
    assert.deepEqual(device.server.reports, shows ? shown : generic);
    // The user sees it in the app.
    assert.equal((await client.read(id)).text, 'The code is 4711.');
    await client.catchUp();
    assert.deepEqual(device.server.reports, [...generic, ...shown]);
  }, { configuration: { display: own } });
}

simulated('what has expired is not shown, and leaves the screen at the next wake', async (device) => {
  const { client } = device.start();
  const late = device.server.send('late', { ExpiresAt: at(device, 0) });
  assert.equal((await push(device, client, late)).code, 'SP-EXPIRED');
  const [short, hiddenOne] = [
    device.server.send('short', { ExpiresAt: at(device, 600) }),
    device.server.send('in the app', { ExpiresAt: at(device, 600), Display: 'app' }),
  ];
  for (const id of [short, hiddenOne]) await push(device, client, id);
  await device.clock.sleep(590);
  await client.catchUp();
  assert.ok(device.screen.visible.has(short));
  await device.clock.sleep(10);
  await push(device, device.start().client, device.server.send());
  assert.deepEqual(device.screen.removed, [short, hiddenOne]);
  assert.deepEqual((await device.disk.read()).expiring, []);
  await assert.rejects(client.read(short), { code: 'SP-EXPIRED' });
});

simulated('generic texts are reported once, with their codes, and the secret after them', async (device) => {
  const { client } = device.start();
  const installation = await client.register(browser);
  const id = device.server.send();
  device.intercept(`GET /api/notifications/${id}`, () => answer(503), 20);
  await push(device, client, id);
  await push(device, client, id);
  device.interceptions.length = 0;
  await client.catchUp();
  await client.catchUp();
  assert.deepEqual(device.server.reports, [
    { id, Text: 'generic', Code: 'SP-503', Sdk: sdk, DeviceId: installation },
    { id, Text: 'secret', Sdk: sdk, DeviceId: installation },
  ]);
});

simulated('reports do not delay a wake beyond its limit, and wait for the next one', async (device) => {
  const { client } = device.start();
  await client.register(browser);
  const id = device.server.send({ for: 'the app' });
  device.intercept('POST /api/notifications/', () => device.clock.sleep(600), 50);
  const begin = device.clock.uptime;
  await push(device, client, id);
  assert.ok(device.clock.uptime - begin < 7);
  device.interceptions.length = 0;
  await client.catchUp();
  assert.equal(device.server.reports.length, 1);
});

test('the reports name the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(sdk, `web/${version}`);
  assert.throws(() => makeConfiguration({ retrievalURL: 'https://c.example', display: 'none' }), TypeError);
});

const incoming = (device, id, options) => IncomingPush.fromText(device.push(id, options));

simulated('secret(push) gives a secret once, and shows nothing', async (device) => {
  const { client } = device.start();
  const id = device.server.send(message, { Display: 'app' });
  const secret = await client.secret(incoming(device, id));
  assert.deepEqual([secret.text, secret.display], [message.Body, 'app']);
  assert.equal(await client.secret(incoming(device, id)), null);
  assert.equal(await client.secret(incoming(device, id, { withdraw: true })), null);
  await client.catchUp();
  assert.deepEqual([device.screen.secrets.size, device.screen.notices], [0, []]);
  assert.deepEqual(device.server.reports.map(({ Text }) => Text), ['secret']);
  await assert.rejects(client.secret(IncomingPush.fromText(JSON.stringify({ secureId: id }))), { code: 'SP-SIGNATURE' });
  const gone = device.server.send();
  device.server.revoke(gone);
  await assert.rejects(client.secret(incoming(device, gone)), { code: 'SP-410' });
  const later = device.server.send();
  device.intercept('', breaks, 50);
  await assert.rejects(client.secret(incoming(device, later)), { code: 'SP-OFFLINE' });
  device.interceptions.length = 0;
  // What could not be had waits, as after `handle`.
  assert.deepEqual(await client.waiting(), [later]);
});

const ask = { answers: ['approve', 'deny'] };

simulated('an answer is sent with the device, and ends the notification', async (device) => {
  const { client } = device.start();
  const DeviceId = await client.register(browser);
  const id = device.server.send(message, ask);
  await push(device, client, id);
  const bodies = [];
  device.intercept(`POST /api/notifications/${id}/answer`, ({ body }) => { bodies.push(JSON.parse(body)); }, 9);
  await client.answer(id, 'approve', { text: 'It is me.' });
  await client.answer(id, 'approve', { text: 'It is me.' });
  assert.deepEqual(bodies[0], { Action: 'approve', Text: 'It is me.', DeviceId });
  assert.deepEqual(device.screen.removed, [id, id]);
  assert.deepEqual(await client.waiting(), []);
  await assert.rejects(client.answer(id, 'deny'), { code: 'SP-409' });
  await assert.rejects(client.answer('../x', 'deny'), { code: 'SP-404' });
});

simulated('an answer that is lost is sent again', async (device) => {
  const { client } = device.start();
  const id = device.server.send(message, ask);
  device.intercept(`POST /api/notifications/${id}/answer`, (request) => {
    device.server.respond(request);
    return breaks();
  });
  await client.answer(id, 'deny');
  assert.equal(device.server.stored[0].answer.action, 'deny');
});

simulated('a challenge has three tries', async (device) => {
  const { client } = device.start();
  const id = device.server.send(message, { ...ask, challenge: '42' });
  await assert.rejects(client.answer(id, 'approve'), { code: 'SP-422' });
  for (const code of ['SP-422', 'SP-422', 'SP-410']) {
    await assert.rejects(client.answer(id, 'approve', { challenge: '41' }), { code });
  }
  await assert.rejects(client.answer(id, 'approve', { challenge: '42' }), { code: 'SP-410' });
  const other = device.server.send(message, { ...ask, challenge: '42' });
  await client.answer(other, 'approve', { challenge: '42' });
  await assert.rejects(client.answer(other, 'no-such'), { code: 'SP-409' });
});

simulated('the user sees all devices, and removes one or all', async (device) => {
  const { client } = device.start();
  const own = await client.register(browser);
  device.server.devicesPerPage = 2;
  for (const id of ['phone-1', 'phone-2', 'zz']) device.server.installations.set(id, {});
  const devices = await client.devices();
  assert.deepEqual(devices.map(({ id }) => id), [own, 'phone-1', 'phone-2', 'zz'].sort());
  assert.deepEqual(devices.filter(({ isThisDevice }) => isThisDevice).map(({ id }) => id), [own]);
  assert.deepEqual(devices[0].platform, 'browser');
  await client.removeDevice('phone-1');
  await client.removeDevice('phone-1');
  assert.equal(device.server.installations.has('phone-1'), false);
  await assert.rejects(client.removeDevice('../x'), { code: 'SP-404' });
  device.intercept('DELETE /api/devices', () => answer(503), 9);
  await assert.rejects(client.signOutEverywhere(), { code: 'SP-503' });
  assert.notEqual(await device.disk.credentials(), null);
  device.interceptions.length = 0;
  await client.signOutEverywhere();
  assert.deepEqual([device.server.installations.size, await device.disk.credentials()], [0, null]);
});

simulated('removing this device ends its registration, and nothing else', async (device) => {
  const { client } = device.start();
  const own = await client.register(browser);
  // The server compares IDs without regard to case, so a list may have another spelling.
  const spelling = own.toUpperCase();
  const { installations } = device.server;
  installations.set(spelling, installations.get(own)).delete(own);
  assert.equal((await client.devices())[0].isThisDevice, true);
  installations.set(own, installations.get(spelling)).delete(spelling);
  installations.set('other', {});
  await client.removeDevice(spelling);
  assert.deepEqual([...device.server.installations.keys()], ['other']);
  assert.notEqual(await device.disk.credentials(), null);
});

simulated('the inbox has the messages on request', async (device) => {
  const { client } = device.start();
  const ids = [device.server.send(message), device.server.send('text'), device.server.send({ e2e: 1 })];
  const list = await client.inbox();
  assert.deepEqual(list.entries.map(({ secret, isRead }) => [secret, isRead]), ids.map(() => [null, false]));
  const { entries } = await client.inbox({ withSecrets: true });
  assert.deepEqual(entries.map(({ secret, code }) => [secret?.message?.title ?? secret?.text, code]), [
    ['Log-in', null], ['text', null], [undefined, 'SP-DECRYPT'],
  ]);
  assert.equal(device.server.read.length, 3);
});
