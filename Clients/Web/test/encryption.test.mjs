import assert from 'node:assert/strict';
import { DeviceKey } from '../lib/device-key.js';
import { ClientStoreError } from '../lib/store.js';
import { answer, SimulatedServer } from './simulation/server.mjs';
import { browser, push, simulated } from './support/simulated.mjs';
import { loadVectors } from './support/vectors.mjs';

const { cases } = loadVectors('e2e');
const sealed = cases.find((entry) => entry.expect.encrypted && entry.recipient === SimulatedServer.user);
const stranger = cases.find((entry) => entry.expect.reason === 'SP-KEY' && entry.recipient === SimulatedServer.user);

/** Gives the device the installation and the key of a vector. */
async function become(device, { device: installationID, privateKey }) {
  await device.disk.update((state) => {
    state.owner = 'alice';
    state.registration.installationID = installationID;
  });
  const key = await crypto.subtle.importKey('jwk', privateKey, { name: 'X25519' }, false, ['deriveBits']);
  await device.disk.keepDeviceKey(new DeviceKey(key, privateKey.x));
}

const keyRequests = (device) => device.server.requests('PUT /api/devices');

simulated('an encrypted notification is decrypted and shown', async (device) => {
  await become(device, sealed);
  const id = device.server.send(JSON.parse(sealed.payload));
  const { client } = device.start();
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.deepEqual([...device.screen.texts], [sealed.expect.text]);
  assert.equal((await client.read(id)).text, sealed.expect.text);
});

simulated('a device without the key shows the generic text, once', async (device) => {
  const id = device.server.send(JSON.parse(stranger.payload));
  const { client } = device.start();
  const report = await push(device, client, id);
  assert.deepEqual([report.code, await client.waiting()], ['SP-KEY', []]);
  await push(device, client, id);
  assert.deepEqual(device.screen.notices, [{ id, localizationKey: 'securepush.generic', code: 'SP-KEY' }]);
  await assert.rejects(client.read(id), { code: 'SP-KEY' });
});

simulated('a key that cannot be read now does not end the wait', async (device) => {
  await become(device, sealed);
  const id = device.server.send(JSON.parse(sealed.payload));
  const { client } = device.start();
  const { deviceKey } = client.store;
  client.store.deviceKey = async () => { throw new ClientStoreError('unreadable'); };
  assert.equal((await push(device, client, id)).code, 'SP-KEY');
  assert.deepEqual(await client.waiting(), [id]);
  client.store.deviceKey = deviceKey;
  assert.deepEqual((await client.catchUp()).shown, [id]);
});

simulated('each registration sends the key, which the server may have forgotten', async (device) => {
  const { client } = device.start();
  const id = await client.register(browser);
  const { x } = await device.disk.deviceKey();
  device.server.keys.clear();
  assert.equal(await client.register(browser), id);
  assert.deepEqual(device.server.keys.get(id), { kty: 'OKP', crv: 'X25519', x });
  assert.equal(device.server.requests('PUT /api/installations'), 1);
  assert.equal(keyRequests(device), 2);
});

simulated('an installation that the server has given up is registered again', async (device) => {
  const { client } = device.start();
  const id = await client.register(browser);
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
  await client.register(browser);
  assert.ok(device.clock.uptime - begin < 6);
  await client.register(browser);
  assert.equal(device.server.requests('PUT /api/installations'), 1);
});

simulated('another user has another key', async (device) => {
  const { client, credentials } = device.start();
  await client.register(browser);
  const first = await device.disk.deviceKey();
  device.server.accessTokens.add('token-of-bob');
  await credentials.logInWithToken('bob', 'token-of-bob');
  await client.register(browser);
  assert.notEqual((await device.disk.deviceKey()).x, first.x);
  await client.unregister();
  assert.equal(await device.disk.deviceKey(), null);
});

simulated('another user has another key, also after a registration that failed', async (device) => {
  const { client, credentials } = device.start();
  await client.register(browser);
  const first = await device.disk.deviceKey();
  device.server.accessTokens.add('token-of-bob');
  await credentials.logInWithToken('bob', 'token-of-bob');
  device.intercept('PUT /api/installations', () => answer(403));
  await assert.rejects(client.register(browser), { code: 'SP-403' });
  // The server has the installation of the first user until then.
  assert.equal((await device.disk.deviceKey()).x, first.x);
  await client.register(browser);
  assert.notEqual((await device.disk.deviceKey()).x, first.x);
});

simulated('the generic text of an envelope outlives the withdrawal of the own read', async (device) => {
  const id = device.server.send(JSON.parse(stranger.payload));
  const { client } = device.start();
  await push(device, client, id);
  await push(device, client, id, { withdraw: true });
  assert.ok(!device.screen.removed.includes(id));
  device.server.revoke(id);
  await push(device, client, id, { withdraw: true });
  assert.ok(device.screen.removed.includes(id));
});

simulated('a browser without X25519 registers without a key', async (device) => {
  const { client } = device.start();
  const { subtle } = device.clock.crypto;
  const generateKey = async () => { throw new DOMException('Unrecognized name.', 'NotSupportedError'); };
  client.crypto = { subtle: { digest: (...args) => subtle.digest(...args), generateKey } };
  const id = await client.register(browser);
  assert.ok(device.server.installations.has(id));
  assert.equal(keyRequests(device), 0);
});

simulated('an app may do without end-to-end encryption', async (device) => {
  await device.start().client.register(browser);
  assert.equal(keyRequests(device), 0);
  assert.equal(await device.disk.deviceKey(), null);
}, { configuration: { encryptsEndToEnd: false } });
