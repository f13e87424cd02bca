import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { PushKeySet } from '../lib/push-keys.js';
import { IncomingPush } from '../lib/push.js';
import { pair as old } from './simulation/device.mjs';
import { push as pushed, simulated } from './support/simulated.mjs';
import { answer } from './simulation/server.mjs';

const next = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = (pair) => pair.publicKey.export({ format: 'jwk' });
const set = (...pairs) => ({ keys: pairs.map(jwk) });
const asked = (device) => device.server.requests('GET /api/push-keys');

/** Handles a push that is signed with this key. */
const push = (device, client, id, signer) => client.handle(IncomingPush.fromText(device.push(id, { signer })));

simulated('a genuine push makes the device learn the next key, and forget a removed one', async (device) => {
  const ids = Array.from({ length: 3 }, () => device.server.send());
  const { client } = device.start();
  device.server.pushKeys = set(next, old);
  await push(device, client, ids[0], old);
  assert.equal(asked(device), 1);
  assert.equal((await push(device, client, ids[1], next)).code, null);
  device.server.pushKeys = set(next);
  assert.equal((await push(device, client, ids[2], old)).code, null);
  assert.equal(asked(device), 1);
  device.clock.dateOffset += 3_601;
  assert.equal((await push(device, client, ids[2], old)).code, null);
  assert.equal(asked(device), 2);
  assert.equal((await push(device, client, ids[2], old)).code, 'SP-SIGNATURE');
  assert.equal((await push(device, client, ids[2], next)).code, null);
});

simulated('a catch-up makes the device learn the next key', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  device.server.pushKeys = set(next);
  const before = device.server.log.length;
  const unsigned = IncomingPush.fromText(JSON.stringify({ secureId: id }));
  assert.equal((await client.handle(unsigned)).code, 'SP-SIGNATURE');
  assert.equal(device.server.log.length, before);
  await client.catchUp();
  assert.equal((await push(device, client, id, next)).code, null);
  // A clock that went back tells nothing of the age.
  device.clock.dateOffset -= 86_400;
  await client.catchUp();
  assert.equal(asked(device), 2);
});

simulated('a push that a new key signs makes the device learn it, in one request', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  device.server.pushKeys = set(next);
  assert.deepEqual((await push(device, client, id, next)).shown, [id]);
  assert.equal(asked(device), 1);
  // The former key has been stolen.
  assert.equal((await push(device, client, device.server.send(), old)).code, 'SP-SIGNATURE');
});

simulated('forged pushes cause one request in an hour, and none about their IDs', async (device) => {
  const { client } = device.start();
  device.server.pushKeys = null;
  const forger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  for (let count = 0; count < 20; count += 1) {
    const id = device.server.send();
    assert.equal((await push(device, client, id, forger)).code, 'SP-SIGNATURE');
    device.clock.dateOffset += 179;
  }
  assert.deepEqual(device.server.log.filter((line) => !line.includes('token')), ['GET /api/push-keys']);
  device.clock.dateOffset += 60;
  await push(device, client, device.server.send(), forger);
  assert.equal(asked(device), 2);
});

const unusable = {
  'a private key': { keys: [{ ...jwk(next), d: 'AAAA' }] },
  'a private member of another type': { keys: [{ ...jwk(next), d: 7 }] },
  'a symmetric key': { keys: [jwk(next), { kty: 'oct', k: 'AAAA' }] },
  'no key': set(), 'no list': {}, 'no JSON': '<html>',
  'too many bytes': JSON.stringify(set(next)) + ' '.repeat(64 * 1024),
};
for (const [name, keys] of Object.entries(unusable)) {
  simulated(`a set with ${name} replaces nothing`, async (device) => {
    const id = device.server.send();
    const { client } = device.start();
    device.server.pushKeys = keys;
    for (let count = 0; count < 2; count += 1) assert.equal((await push(device, client, id, old)).code, null);
    // It is asked for again at the next wake.
    assert.equal(asked(device), 2);
    assert.equal((await push(device, client, id, next)).code, 'SP-SIGNATURE');
  });
}

for (const status of [302, 403, 404, 500, 503]) {
  simulated(`a refusal (${status}) replaces nothing and delays nothing`, async (device) => {
    const { client } = device.start();
    device.server.pushKeys = set(next, old);
    await client.catchUp();
    device.clock.dateOffset += 3_601;
    device.intercept('GET /api/push-keys', () => answer(status));
    const begin = device.clock.uptime;
    await client.catchUp();
    assert.ok(device.clock.uptime - begin < 0.5);
    assert.equal((await push(device, client, device.server.send(), next)).code, null);
    assert.equal(asked(device), 2);
  });
}

simulated('a server that hangs delays a wake for a short time', async (device) => {
  const { client } = device.start();
  device.intercept('GET /api/push-keys', () => device.clock.sleep(600), 50);
  let begin = device.clock.uptime;
  await client.catchUp();
  assert.ok(device.clock.uptime - begin <= 5.5);
  device.intercept('', () => device.clock.sleep(600), 50);
  begin = device.clock.uptime;
  await client.catchUp();
  assert.ok(device.clock.uptime - begin <= 25);
});

simulated('wakes at the same time ask once', async (device) => {
  const { client } = device.start();
  await Promise.all(Array.from({ length: 20 }, () => client.catchUp()));
  assert.equal(asked(device), 1);
});

simulated('a device that does not refresh keeps its keys', async (device) => {
  const { client } = device.start();
  device.server.pushKeys = set(next);
  await client.catchUp();
  assert.equal(asked(device), 0);
  assert.equal((await pushed(device, client, device.server.send())).code, null);
}, { configuration: { refreshesPushKeys: false } });

test('a set of 32 keys is used, and the rest is skipped', () => {
  const keys = Array.from({ length: 33 }, () => jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' })));
  assert.equal(PushKeySet.fromJWKSet({ keys }).keys.length, 32);
});
