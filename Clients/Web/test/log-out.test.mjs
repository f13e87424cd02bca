import assert from 'node:assert/strict';
import test from 'node:test';
import { pushDevice } from '../securepush.js';
import { SimulatedDevice } from './simulation/device.mjs';
import { answer, proxyAnswer, SimulatedServer } from './simulation/server.mjs';
import { breaks, logIn, push, simulated, subscription } from './support/simulated.mjs';

const device = () => pushDevice(subscription('first'), ['news']);

/** Alice is registered, and sees a secret and a generic text. */
async function prepare(simulation) {
  simulation.subscription = subscription('first');
  const { client } = simulation.start();
  await client.register(device());
  const [secret, broken] = [simulation.server.send('The code is 4711.'), simulation.server.send()];
  await push(simulation, client, secret);
  simulation.intercept(`GET /api/notifications/${broken}`, () => answer(503), 100);
  await push(simulation, client, broken);
  simulation.interceptions.length = 0;
  assert.ok(simulation.screen.visible.has(secret));
}

/** Whether nothing of alice is left in the store, except for the record of the log-out. */
function forgets({ disk }) {
  const { state, stored, keys } = disk;
  return stored === null && keys.length === 0 && state.owner === null && state.entries.length === 0
    && state.registration.installationID === null && state.registration.wanted === null && state.keyOwner === null;
}

const offline = (simulation) => simulation.intercept('', breaks, 1_000);
const online = (simulation) => { simulation.interceptions.length = 0; };

simulated('logOut() forgets everything, and tells the server', async (simulation) => {
  await prepare(simulation);
  assert.equal(await simulation.start().client.logOut(), true);
  assert.ok(forgets(simulation));
  assert.deepEqual([simulation.disk.left, simulation.screen.visible.size, simulation.screen.badge], [[], 0, 0]);
  assert.deepEqual([simulation.server.installations.size, simulation.server.refreshTokens.size], [0, 0]);
});

for (const [name, wake] of Object.entries({
  'the next visit': (app) => app.client.catchUp(), 'finishLogOut()': (app) => app.client.finishLogOut(),
  'a push': (app, simulation) => push(simulation, app.client, simulation.server.send()),
})) {
  simulated(`without a network logOut() clears the screen at once, and ${name} tells the server`, async (simulation) => {
    await prepare(simulation);
    offline(simulation);
    const begin = simulation.clock.uptime;
    assert.equal(await simulation.start().client.logOut(), false);
    assert.ok(simulation.clock.uptime - begin < 10);
    assert.ok(forgets(simulation));
    assert.equal(simulation.screen.visible.size, 0);
    online(simulation);
    // The access token has expired by then.
    await simulation.clock.sleep(7_200);
    simulation.server.revokeAccessTokens();
    await wake(simulation.start(), simulation);
    assert.deepEqual([simulation.server.installations.size, simulation.server.refreshTokens.size], [0, 0]);
    assert.deepEqual(simulation.disk.left, []);
    assert.ok(forgets(simulation));
    assert.equal(simulation.screen.visible.size, 0);
  });
}

simulated('another user does not wait for a log-out, and keeps the registration', async (simulation) => {
  await prepare(simulation);
  offline(simulation);
  await simulation.start().client.logOut();
  simulation.interceptions.length = 0;
  simulation.intercept('DELETE', breaks, 2);
  const bob = simulation.start();
  await bob.credentials.logInWithToken('bob', 'token-of-bob');
  simulation.server.accessTokens.add('token-of-bob');
  const id = await bob.client.register(device());
  assert.equal(simulation.server.installations.size, 2);
  await bob.client.catchUp();
  await bob.client.catchUp();
  await bob.client.catchUp();
  assert.deepEqual([...simulation.server.installations.keys()], [id]);
  assert.equal((await simulation.disk.credentials()).userName, 'bob');
  assert.equal((await simulation.disk.deviceKeys()).length, 1);
});

simulated('a token is kept for a day at most', async (simulation) => {
  await prepare(simulation);
  offline(simulation);
  await simulation.start().client.logOut();
  assert.match(JSON.stringify(simulation.disk.left), /refresh-/);
  await simulation.clock.sleep(86_401);
  await simulation.start().client.finishLogOut();
  assert.deepEqual(simulation.disk.left, []);
});

for (const [name, reply] of Object.entries({
  403: () => answer(403), 404: () => answer(404), 410: () => answer(410), 'an ended session': () => answer(401),
})) {
  simulated(`${name} is an answer that ends a log-out`, async (simulation) => {
    await prepare(simulation);
    simulation.intercept('DELETE /api/installations', reply, 10);
    simulation.intercept('POST /api/token', reply, 10);
    await simulation.start().client.logOut();
    assert.deepEqual(simulation.disk.left, []);
  });
}

simulated('a captive portal does not end a log-out', async (simulation) => {
  await prepare(simulation);
  simulation.intercept('', () => proxyAnswer(200), 100);
  assert.equal(await simulation.start().client.logOut(), false);
  online(simulation);
  assert.equal(await simulation.start().client.finishLogOut(), true);
  assert.equal(simulation.server.installations.size, 0);
});

simulated('unregister() without a network is told later, with the session of the user', async (simulation) => {
  await prepare(simulation);
  offline(simulation);
  const { client } = simulation.start();
  assert.equal(await client.unregister(), false);
  assert.equal(simulation.screen.visible.size, 0);
  assert.deepEqual(await simulation.disk.deviceKeys(), []);
  assert.equal(simulation.disk.left[0].credentials, null);
  online(simulation);
  await simulation.start().client.catchUp();
  assert.deepEqual([simulation.server.installations.size, simulation.disk.left.length], [0, 0]);
});

simulated('a log-out after unregister() without a network leaves the credentials for it', async (simulation) => {
  await prepare(simulation);
  offline(simulation);
  const { client, credentials } = simulation.start();
  await client.unregister();
  await credentials.logOut();
  assert.ok(forgets(simulation));
  online(simulation);
  assert.equal(await simulation.start().client.finishLogOut(), true);
  assert.deepEqual([simulation.server.installations.size, simulation.server.refreshTokens.size], [0, 0]);
});

for (const status of [200, 401, 503]) {
  simulated(`a log-out during a refresh (${status}) wins, and its session ends`, async (simulation) => {
    await prepare(simulation);
    simulation.server.revokeAccessTokens();
    const worker = simulation.start();
    simulation.intercept('POST /api/token', async (request) => {
      const reply = status === 200 ? simulation.server.respond(request) : answer(status);
      // The page logs out before the worker has stored the answer, and the server cannot be reached.
      simulation.intercept('DELETE', breaks, 3);
      simulation.intercept('POST /api/token', breaks, 1);
      await simulation.start().client.logOut();
      return reply;
    });
    await push(simulation, worker.client, simulation.server.send());
    assert.ok(forgets(simulation));
    assert.equal(simulation.screen.visible.size, 0);
    online(simulation);
    await simulation.start().client.finishLogOut();
    assert.ok(forgets(simulation));
    assert.deepEqual([simulation.server.installations.size, simulation.server.refreshTokens.size], [0, 0]);
    assert.deepEqual(simulation.disk.left, []);
  });
}

simulated('a registration in flight of another window does not outlive a log-out', async (simulation) => {
  simulation.subscription = subscription('first');
  simulation.intercept('PUT /api/installations', async () => { await simulation.start().client.logOut(); });
  await assert.rejects(simulation.start().client.register(device()), { code: 'SP-LOGIN' });
  assert.equal(simulation.server.installations.size, 0);
  assert.ok(forgets(simulation));
  assert.deepEqual(simulation.disk.left, []);
});

simulated('a store that cannot be written keeps the user, and clears the screen', async (simulation) => {
  await prepare(simulation);
  const { client } = simulation.start();
  client.store.store.updateAll = async () => { throw new Error('QuotaExceededError'); };
  await assert.rejects(client.logOut(), { name: 'ClientStoreError' });
  assert.equal(simulation.screen.visible.size, 0);
  assert.equal((await simulation.disk.credentials()).userName, 'alice');
});

simulated('a password of an earlier version is removed and never sent', async (simulation) => {
  simulation.disk.stored = {
    userName: 'alice', accessToken: null, expiresAt: null, refreshToken: null, password: SimulatedServer.password,
  };
  const { credentials, client } = simulation.start();
  assert.equal(await credentials.credentials(), null);
  assert.equal((await client.catchUp()).code, 'SP-LOGIN');
  assert.equal(JSON.stringify(simulation.disk.stored).includes(SimulatedServer.password), false);
});

simulated('a server without tokens logs nobody in', async (simulation) => {
  const { credentials } = simulation.start();
  await credentials.logOut();
  simulation.intercept('POST /api/token', () => answer(404));
  await assert.rejects(logIn({ credentials }), { code: 'SP-404' });
  assert.equal(await credentials.userName(), null);
});

/** One life that ends in the log-out. Returns null if the log-out has no such point. */
async function live(simulation, diesAt, { isOffline, refreshes, next }) {
  await simulation.logIn();
  await prepare(simulation);
  if (refreshes) simulation.server.revokeAccessTokens();
  if (isOffline) offline(simulation);
  const app = simulation.start({ diesAt });
  // A worker with a push that refreshes the session at the same time.
  const worker = refreshes ? push(simulation, simulation.start().client, simulation.server.send()) : null;
  const hasLived = await Promise.race([app.client.logOut().then(() => true), app.process.death]);
  await worker;
  if (hasLived) return null;
  await simulation.clock.sleep(30);
  online(simulation);
  const isLoggedIn = simulation.disk.stored !== null;
  if (next === 'bob' && !isLoggedIn) {
    simulation.server.accessTokens.add('token-of-bob');
    await simulation.start().credentials.logInWithToken('bob', 'token-of-bob');
  }
  const before = JSON.stringify(await simulation.disk.credentials());
  await simulation.start().client.catchUp();
  if (isLoggedIn) await simulation.start().client.logOut();
  const left = [...simulation.screen.visible].filter((id) => next !== 'bob' || simulation.screen.secrets.get(id) === 1);
  return {
    point: app.process.points.at(-1),
    // Bob sees the same simulated inbox, fetched again.
    isClear: next === 'bob' && !isLoggedIn ? simulation.screen.removed.length > 0 : left.length === 0,
    isForgotten: isLoggedIn || next === 'bob' || forgets(simulation),
    isSame: isLoggedIn || before === JSON.stringify(await simulation.disk.credentials()),
    hasLeft: simulation.disk.left.length,
    isKnown: simulation.server.installations.size === 0 && simulation.server.refreshTokens.size === 0,
  };
}

test('death at any step of a log-out leaves no secret on the screen, and brings no session back', async (context) => {
  let [deaths, secrets, sessions, unknown] = [0, 0, 0, 0];
  const lives = [false, true].flatMap((isOffline) => [
    { isOffline, refreshes: false, next: 'nobody' }, { isOffline, refreshes: true, next: 'nobody' },
  ]);
  for (const { isOffline, refreshes, next } of [...lives, { isOffline: true, refreshes: false, next: 'bob' }]) {
    for (let point = 1; ; point += 1) {
      const simulation = new SimulatedDevice({ seed: point });
      const end = await simulation.clock.run(() => live(simulation, point, { isOffline, refreshes, next }));
      if (!end) break;
      deaths += 1;
      if (!end.isClear) secrets += 1;
      if (!end.isForgotten || !end.isSame) sessions += 1;
      if (!end.isKnown || end.hasLeft > 0) unknown += 1;
      if (!end.isClear || !end.isForgotten || !end.isSame || !end.isKnown || end.hasLeft > 0) {
        context.diagnostic(JSON.stringify({ isOffline, refreshes, next, ...end }));
      }
    }
  }
  context.diagnostic(`Deaths in a log-out: ${deaths}. Secrets left on the screen: ${secrets}, sessions that came back: `
    + `${sessions}, log-outs of which the server does not know: ${unknown}.`);
  assert.ok(deaths > 60);
  assert.deepEqual([secrets, sessions, unknown], [0, 0, 0]);
});
