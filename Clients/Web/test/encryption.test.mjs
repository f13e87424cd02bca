import assert from 'node:assert/strict';
import { DeviceKey } from '../lib/device-key.js';
import { ClientStoreError } from '../lib/store.js';
import { answer } from './simulation/server.mjs';
import { makeSender, seal } from './support/seal.mjs';
import { browser, push, simulated } from './support/simulated.mjs';

const keyRequests = (device) => device.server.requests('PUT /api/devices');
const day = 86_400;

/** A device that has registered its key. */
async function start(device) {
  const app = device.start();
  const id = await app.client.register(browser);
  return { ...app, id };
}

/** Sends an envelope that is sealed for this installation, unless the options name keys. */
async function send(device, installation, { keys = undefined, ...options } = {}) {
  const [newest] = await device.disk.deviceKeys();
  const envelope = seal(keys ?? { [installation]: newest.jwk }, { at: device.clock.now, ...options });
  return device.server.send(envelope);
}

const stranger = (await DeviceKey.generate(0)).jwk;

simulated('an encrypted notification is decrypted and shown', async (device) => {
  const { client, id: installation } = await start(device);
  const id = await send(device, installation);
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.deepEqual([...device.screen.texts], ['The code is 4711.']);
  // The same envelope under the same ID is no replay.
  assert.equal((await client.read(id)).text, 'The code is 4711.');
});

simulated('a device without the key shows the generic text, once', async (device) => {
  const { client } = await start(device);
  const id = await send(device, null, { keys: { other: stranger } });
  const report = await push(device, client, id);
  assert.deepEqual([report.code, await client.waiting()], ['SP-KEY', []]);
  await push(device, client, id);
  assert.deepEqual(device.screen.notices, [{ id, localizationKey: 'securepush.generic', code: 'SP-KEY' }]);
  await assert.rejects(client.read(id), { code: 'SP-KEY' });
});

simulated('a key that cannot be read now does not end the wait', async (device) => {
  const { client, id: installation } = await start(device);
  const id = await send(device, installation);
  const { deviceKeys } = client.store;
  client.store.deviceKeys = async () => { throw new ClientStoreError('unreadable'); };
  assert.equal((await push(device, client, id)).code, 'SP-KEY');
  assert.deepEqual(await client.waiting(), [id]);
  client.store.deviceKeys = deviceKeys;
  assert.deepEqual((await client.catchUp()).shown, [id]);
});

simulated('what cannot be remembered is not shown until it can', async (device) => {
  const { client, id: installation } = await start(device);
  const id = await send(device, installation);
  const { rememberEnvelope } = client.store;
  client.store.rememberEnvelope = async () => { throw new ClientStoreError('unwritable'); };
  assert.deepEqual((await push(device, client, id)).shown, []);
  await assert.rejects(client.read(id), { code: 'SP-KEY' });
  assert.equal(device.screen.secrets.size, 0);
  client.store.rememberEnvelope = rememberEnvelope;
  assert.deepEqual((await client.catchUp()).shown, [id]);
});

simulated('an envelope is not opened again under another ID, nor after a log-out', async (device) => {
  const { client, credentials, id: installation } = await start(device);
  const first = await send(device, installation);
  await push(device, client, first);
  const { payload } = device.server.stored.at(-1);
  const second = device.server.send(payload);
  const report = await push(device, client, second);
  assert.deepEqual([report.code, report.shown, await client.waiting()], ['SP-REPLAY', [], []]);
  assert.deepEqual(device.screen.notices, [{ id: second, localizationKey: 'securepush.generic', code: 'SP-REPLAY' }]);
  await assert.rejects(client.read(second), { code: 'SP-REPLAY' });
  await client.logOut();
  assert.equal(device.disk.envelopes.size, 1);
  assert.deepEqual(await device.disk.deviceKeys(), []);
  assert.ok(credentials);
});

const times = {
  'a day ahead': [day, 'shown'], 'more than a day ahead': [day + 2, 'SP-REPLAY'],
  '90 days old': [-90 * day + 60, 'shown'], 'more than 90 days old': [-90 * day - 60, 'SP-REPLAY'],
};
for (const [name, [offset, expected]] of Object.entries(times)) {
  simulated(`a content that is ${name}: ${expected}`, async (device) => {
    const { client, id: installation } = await start(device);
    const id = await send(device, installation, { at: device.clock.now + offset });
    const { shown, code } = await push(device, client, id);
    assert.deepEqual([shown, code], expected === 'shown' ? [[id], null] : [[], expected]);
  });
}

simulated('an expired content shows the generic text, like a notification that is gone', async (device) => {
  const { client, id: installation } = await start(device);
  const id = await send(device, installation, { exp: Math.floor(device.clock.now) });
  assert.equal((await push(device, client, id)).code, 'SP-EXPIRED');
  assert.deepEqual(device.screen.notices.map(({ code }) => code), ['SP-EXPIRED']);
  const later = await send(device, installation, { exp: Math.floor(device.clock.now) + 60 });
  assert.deepEqual((await push(device, client, later)).shown, [later]);
});

const sender = makeSender();
const forger = { ...makeSender(), kid: sender.kid };
const signatures = {
  'a known sender': [sender, null], 'no sender': [null, 'SP-SENDER'], 'a forged sender': [forger, 'SP-SENDER'],
  'an unknown sender': [{ ...sender, kid: 'other' }, 'SP-SENDER'],
};
for (const [name, [signer, code]] of Object.entries(signatures)) {
  simulated(`with sender keys, an envelope of ${name}: ${code ?? 'shown'}`, async (device) => {
    const { client, id: installation } = await start(device);
    const id = await send(device, installation, { sender: signer });
    const report = await push(device, client, id);
    assert.deepEqual([report.code, report.shown], [code, code ? [] : [id]]);
    // The sender is checked before the keys.
    const other = await send(device, null, { sender: signer, keys: { other: stranger } });
    assert.equal((await push(device, client, other)).code, code ?? 'SP-KEY');
  }, { configuration: { senderKeys: sender.set } });
}

simulated('a signature is not looked at without sender keys', async (device) => {
  const { client, id: installation } = await start(device);
  const id = await send(device, installation, { sender: forger });
  assert.deepEqual((await push(device, client, id)).shown, [id]);
});

simulated('a device that requires encryption shows no other text', async (device) => {
  const { client, id: installation } = await start(device);
  const plain = device.server.send('plain text of the operator');
  const report = await push(device, client, plain);
  assert.deepEqual([report.code, await client.waiting()], ['SP-PLAIN', []]);
  await assert.rejects(client.read(plain), { code: 'SP-PLAIN' });
  const id = await send(device, installation);
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.deepEqual([...device.screen.texts], ['The code is 4711.']);
}, { configuration: { requiresEncryption: true } });

simulated('other content under the same keys does not open', async (device) => {
  const { client, id: installation } = await start(device);
  const [{ jwk }] = await device.disk.deviceKeys();
  const [one, other] = ['one', 'other'].map((content) => seal({ [installation]: jwk }, { at: device.clock.now, content }));
  const id = device.server.send({ ...other, keys: one.keys });
  assert.equal((await push(device, client, id)).code, 'SP-DECRYPT');
});

simulated('a key is replaced after 30 days, and its envelopes open for 90 more', async (device) => {
  const { client, id: installation } = await start(device);
  const [first] = await device.disk.deviceKeys();
  const old = { [installation]: first.jwk };
  device.clock.dateOffset += 30 * day;
  await client.catchUp();
  assert.equal(keyRequests(device), 2);
  const [second, former] = await device.disk.deviceKeys();
  assert.deepEqual(device.server.keys.get(installation), second.jwk);
  assert.deepEqual(former.point, first.point);
  for (const keys of [old, undefined]) {
    const id = await send(device, installation, { keys });
    assert.deepEqual((await push(device, client, id)).shown, [id]);
  }
  for (let count = 0; count < 3; count += 1) {
    device.clock.dateOffset += 30 * day + 1;
    await client.catchUp();
  }
  assert.equal((await device.disk.deviceKeys()).length, 4);
  const late = await send(device, installation, { keys: old });
  assert.equal((await push(device, client, late)).code, 'SP-DECRYPT');
});

simulated('a new key that the server has not taken is sent again at the next wake', async (device) => {
  const { client, id: installation } = await start(device);
  device.clock.dateOffset += 30 * day;
  device.intercept('PUT /api/devices', () => answer(503));
  await client.catchUp();
  const [newest] = await device.disk.deviceKeys();
  await client.catchUp();
  await client.catchUp();
  assert.deepEqual(device.server.keys.get(installation), newest.jwk);
  assert.equal(keyRequests(device), 2);
  assert.equal((await device.disk.deviceKeys()).length, 2);
});

simulated('the fingerprint is that of the newest key', async (device) => {
  const { client } = device.start();
  assert.equal(await client.encryptionKeyFingerprint(), null);
  await client.register(browser);
  const first = await client.encryptionKeyFingerprint();
  assert.match(first, /^([0-9a-f]{4} ){7}[0-9a-f]{4}$/);
  device.clock.dateOffset += 30 * day;
  await client.register(browser);
  assert.notEqual(await client.encryptionKeyFingerprint(), first);
});

simulated('each registration sends the key, which the server may have forgotten', async (device) => {
  const { client, id } = await start(device);
  const [{ jwk }] = await device.disk.deviceKeys();
  device.server.keys.clear();
  assert.equal(await client.register(browser), id);
  assert.deepEqual(device.server.keys.get(id), jwk);
  assert.equal(device.server.requests('PUT /api/installations'), 1);
  assert.equal(keyRequests(device), 2);
});

simulated('an installation that the server has given up is registered again', async (device) => {
  const { client, id } = await start(device);
  device.server.installations.clear();
  device.intercept(`PUT /api/devices/${id}/key`, () => answer(404));
  assert.equal(await client.register(browser), id);
  assert.equal(device.server.installations.size, 1);
  assert.ok(device.server.keys.has(id));
});

simulated('a server that does not answer about the key delays the registration for a short time', async (device) => {
  const { client } = device.start();
  device.intercept('PUT /api/devices', () => device.clock.sleep(600), 10);
  const begin = device.clock.uptime;
  const id = await client.register(browser).catch((failure) => failure.installationID);
  assert.ok(device.clock.uptime - begin < 6);
  assert.ok(device.server.installations.has(id));
  await assert.rejects(client.register(browser), { code: 'SP-TIMEOUT', installationID: id });
  assert.equal(device.server.requests('PUT /api/installations'), 1);
});

simulated('a key that is not taken, made or stored is reported, and the device is registered', async (device) => {
  const { client } = device.start();
  device.intercept('PUT /api/devices', () => answer(422));
  const failure = await client.register(browser).catch((error) => error);
  assert.deepEqual([failure.name, failure.code], ['SecurePushFailure', 'SP-422']);
  assert.ok(device.server.installations.has(failure.installationID));
  await device.disk.updateDeviceKeys(() => []);
  const { updateDeviceKeys } = client.store;
  client.store.updateDeviceKeys = async () => { throw new ClientStoreError('unwritable'); };
  await assert.rejects(client.register(browser), { code: 'SP-KEY', installationID: failure.installationID });
  client.store.updateDeviceKeys = updateDeviceKeys;
  assert.equal(await client.register(browser), failure.installationID);
});

simulated('a key that the server has got before need not arrive again', async (device) => {
  const { client, id } = await start(device);
  device.intercept('PUT /api/devices', () => answer(503), 9);
  assert.equal(await client.register(browser), id);
  // With a new installation the server has forgotten it.
  const moved = { ...browser, tags: ['moved'] };
  await assert.rejects(client.register(moved), { code: 'SP-503', installationID: id });
  device.interceptions.length = 0;
  device.server.keys.clear();
  await client.catchUp();
  assert.deepEqual(device.server.keys.get(id), (await device.disk.deviceKeys())[0].jwk);
});

simulated('a failure names no installation that the server does not have', async (device) => {
  const { client } = device.start();
  device.intercept('PUT /api/devices', () => answer(404), 9);
  await assert.rejects(client.register(browser), { code: 'SP-404', installationID: null });
});

simulated('another user has another key', async (device) => {
  const { client, credentials } = await start(device);
  const [first] = await device.disk.deviceKeys();
  device.server.accessTokens.add('token-of-bob');
  await credentials.logInWithToken('bob', 'token-of-bob');
  await client.register(browser);
  const keys = await device.disk.deviceKeys();
  assert.equal(keys.length, 1);
  assert.notDeepEqual(keys[0].point, first.point);
  await client.unregister();
  assert.deepEqual(await device.disk.deviceKeys(), []);
});

simulated('another user has another key, also after a registration that failed', async (device) => {
  const { client, credentials } = await start(device);
  const [first] = await device.disk.deviceKeys();
  device.server.accessTokens.add('token-of-bob');
  await credentials.logInWithToken('bob', 'token-of-bob');
  device.intercept('PUT /api/installations', () => answer(403));
  await assert.rejects(client.register(browser), { code: 'SP-403' });
  // The server has the installation of the first user until then.
  assert.deepEqual((await device.disk.deviceKeys())[0].point, first.point);
  await client.register(browser);
  assert.notDeepEqual((await device.disk.deviceKeys())[0].point, first.point);
});

simulated('the generic text of an envelope outlives the withdrawal of the own read', async (device) => {
  const { client } = await start(device);
  const id = await send(device, null, { keys: { other: stranger } });
  await push(device, client, id);
  await push(device, client, id, { withdraw: true });
  assert.ok(!device.screen.removed.includes(id));
  device.server.revoke(id);
  await push(device, client, id, { withdraw: true });
  assert.ok(device.screen.removed.includes(id));
});

simulated('an app may do without end-to-end encryption', async (device) => {
  const { client } = device.start();
  await client.register(browser);
  await client.catchUp();
  assert.equal(keyRequests(device), 0);
  assert.deepEqual(await device.disk.deviceKeys(), []);
}, { configuration: { encryptsEndToEnd: false } });
