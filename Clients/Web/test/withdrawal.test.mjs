import assert from 'node:assert/strict';
import { losesAnswer, breaks, push, simulated } from './support/simulated.mjs';

const fetchOf = (id) => `GET /api/notifications/${id}`;

/** A device that has asked for a notification, whose answers were all lost. */
async function deviceThatAsked(device, id) {
  device.intercept(fetchOf(id), losesAnswer(device), 20);
  const app = device.start();
  await push(device, app.client, id);
  assert.deepEqual(await app.client.waiting(), [id]);
  device.interceptions = [];
  return app;
}

simulated('the echo of a lost answer does not end the wait', async (device) => {
  const id = device.server.send();
  const { client } = await deviceThatAsked(device, id);
  assert.deepEqual((await push(device, client, id, { withdraw: true })).shown, [id]);
  assert.equal(device.server.requests(`HEAD /api/notifications/${id}`), 1);
  assert.equal(device.screen.secrets.get(id), 1);
});

simulated('an echo that cannot be confirmed is confirmed at the next wake', async (device) => {
  const id = device.server.send();
  const { client } = await deviceThatAsked(device, id);
  device.intercept('', breaks, 50);
  await push(device, client, id, { withdraw: true });
  assert.deepEqual(await client.waiting(), [id]);
  device.interceptions = [];
  assert.deepEqual((await device.start().client.catchUp()).shown, [id]);
});

simulated('a fetch that finds nothing confirms a withdrawal', async (device) => {
  const id = device.server.send();
  const { client } = await deviceThatAsked(device, id);
  const notices = device.screen.notices.length;
  device.server.revoke(id);
  device.intercept('HEAD', breaks, 50);
  await push(device, client, id, { withdraw: true });
  device.interceptions = [];
  await push(device, client, id);
  assert.deepEqual(await client.waiting(), []);
  assert.ok(device.screen.removed.includes(id));
  assert.equal(device.screen.notices.length, notices);
});

simulated('a withdrawal during the first fetch does not lose the secret', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  device.intercept(fetchOf(id), async () => { await push(device, client, id, { withdraw: true }); });
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.ok(device.screen.visible.has(id));
});

simulated('a withdrawal during the fetch of a later reader wins', async (device) => {
  const id = device.server.send();
  device.server.stored[0].isRead = true;
  const { client } = device.start();
  device.intercept(fetchOf(id), async () => { await push(device, client, id, { withdraw: true }); });
  assert.deepEqual((await push(device, client, id)).shown, []);
  assert.equal(device.screen.secrets.size, 0);
});

simulated('a refused request is not taken for a read', async (device) => {
  const id = device.server.send();
  device.server.endSessions();
  const { client } = device.start();
  await push(device, client, id);
  assert.equal(device.screen.isPrompting, true);
  await push(device, client, id, { withdraw: true });
  assert.deepEqual(await client.waiting(), []);
  assert.equal(device.screen.isPrompting, false);
});

simulated('withdrawals at the same time are confirmed once each', async (device) => {
  const ids = Array.from({ length: 10 }, () => device.server.send());
  const { client } = device.start();
  await client.catchUp();
  await Promise.all(ids.map((id) => push(device, client, id, { withdraw: true })));
  assert.equal(device.server.requests('HEAD'), 10);
  assert.equal(device.screen.visible.size, 10);
});

simulated('pushes at the same time report each secret once', async (device) => {
  const ids = Array.from({ length: 20 }, () => device.server.send());
  const { client } = device.start();
  await Promise.all(ids.map((id) => push(device, client, id)));
  await client.catchUp();
  assert.equal(device.server.log.filter((line) => line.endsWith('/shown')).length, 20);
});

simulated('a notification that becomes visible before the payload page is shown', async (device) => {
  const { server } = device;
  const first = server.send();
  const { client } = device.start();
  await push(device, client, first);
  const ids = [server.send(), server.send(), server.send()];
  const [hidden] = server.stored.splice(2, 1);
  device.intercept('GET /api/notifications?include=payload', () => { server.stored.splice(2, 0, hidden); });
  assert.deepEqual((await client.catchUp()).shown, ids);
  await client.catchUp();
  assert.deepEqual([...device.screen.secrets.values()], [1, 1, 1, 1]);
});

const withoutKeys = { configuration: { pushKeys: null } };

simulated('without push keys the server is asked before anything is withdrawn', async (device) => {
  const { client } = device.start();
  const unknown = device.server.send('The code is 4711.');
  // Somebody forges a withdrawal before the push arrives.
  await push(device, client, unknown, { withdraw: true });
  assert.equal(device.server.requests(`HEAD /api/notifications/${unknown}`), 1);
  assert.equal(device.screen.secrets.get(unknown), 1);
  await push(device, client, unknown, { withdraw: true });
  assert.ok(device.screen.visible.has(unknown));
  device.server.revoke(unknown);
  await push(device, client, unknown, { withdraw: true });
  assert.ok(device.screen.removed.includes(unknown));
}, withoutKeys);

simulated('without push keys an unknown withdrawal that cannot be asked for is not remembered', async (device) => {
  const { client } = device.start();
  device.intercept('', breaks, 50);
  await push(device, client, '019aa4a2-1c9b-7000-8000-00000000ffff', { withdraw: true });
  device.interceptions = [];
  await client.catchUp();
  assert.equal(device.server.requests('HEAD'), 0);
  assert.deepEqual((await device.disk.read()).unconfirmed, []);
}, withoutKeys);

simulated('without push keys a forged withdrawal does not hide what another device has read', async (device) => {
  const id = device.server.send();
  device.server.stored[0].isRead = true;
  const { client } = device.start();
  device.intercept('HEAD', breaks, 50);
  device.intercept(fetchOf(id), async () => { await push(device, client, id, { withdraw: true }); });
  assert.deepEqual((await push(device, client, id)).shown, [id]);
}, withoutKeys);
