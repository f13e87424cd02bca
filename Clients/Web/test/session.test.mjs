import assert from 'node:assert/strict';
import { browser, logIn, push, simulated } from './support/simulated.mjs';
import { answer } from './simulation/server.mjs';

simulated('a secret in flight does not appear after unregister()', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  device.intercept(`GET /api/notifications/${id}`, () => client.unregister());
  assert.deepEqual((await push(device, client, id)).shown, []);
  assert.equal(device.screen.secrets.size, 0);
});

simulated('a secret in flight is not shown to another user', async (device) => {
  const id = device.server.send();
  const { client, credentials } = device.start();
  device.intercept('GET /api/notifications?', () => answer(302), 10);
  device.intercept(`GET /api/notifications/${id}`, async () => {
    await credentials.logInWithToken('bob', 'token-of-bob');
    await client.catchUp();
  });
  await push(device, client, id);
  assert.equal(device.screen.secrets.size, 0);
});

simulated('a wake shows nothing of the last user after unregister()', async (device) => {
  const ids = Array.from({ length: 3 }, () => device.server.send());
  const { client } = device.start();
  // The credentials are valid until the log-out.
  device.intercept(`GET /api/notifications/${ids[0]}`, () => client.unregister());
  await push(device, client, ids[0]);
  assert.deepEqual([device.screen.hints, device.screen.badge, device.screen.secrets.size], [0, 0, 0]);
  assert.deepEqual(await client.waiting(), []);
});

simulated('a secret that is being shown while the user goes is removed', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  const { showSecret } = client.presenter;
  client.presenter.showSecret = async (secret) => {
    await client.unregister();
    await showSecret(secret);
  };
  await push(device, client, id);
  assert.equal(device.screen.visible.size, 0);
});

for (const page of ['Unread', 'include=payload']) {
  simulated(`a catch-up in flight (${page}) shows nothing after unregister()`, async (device) => {
    for (let count = 0; count < 3; count += 1) device.server.send();
    const { client } = device.start();
    device.intercept(`GET /api/notifications?${page === 'Unread' ? 'Limit' : page}`, async (request) => {
      const page = device.server.respond(request);
      await client.unregister();
      device.server.endSessions();
      return page;
    });
    await client.catchUp();
    assert.equal(device.screen.secrets.size, 0);
    assert.deepEqual(await client.waiting(), []);
  });
}

for (const status of [200, 401, 503]) {
  simulated(`a refresh in flight (${status}) does not undo a log-out`, async (device) => {
    device.clock.dateOffset += 7_200;
    const { credentials } = device.start();
    device.intercept('POST /api/token', async () => {
      await device.disk.saveCredentials(null);
      return answer(status, { access_token: 'new', refresh_token: 'next' });
    });
    await assert.rejects(credentials.credentials());
    assert.equal(await device.disk.credentials(), null);
    assert.equal(device.server.requests('DELETE /api/token'), status === 200 ? 1 : 0);
  });
}

simulated('a fetch refreshes the credentials once', async (device) => {
  const id = device.server.send();
  const { client } = device.start();
  let count = 0;
  const { credentials } = client.connection;
  client.connection.credentials = {
    credentials: () => credentials.credentials(),
    refresh: async () => {
      count += 1;
      return credentials.credentials();
    },
  };
  device.intercept(`GET /api/notifications/${id}`, () => answer(401));
  device.intercept(`GET /api/notifications/${id}`, () => answer(503), 2);
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.equal(count, 1);
});

simulated('a wake ends in time when the credentials take long', async (device) => {
  const { client } = device.start();
  const { credentials } = client.connection;
  client.connection.credentials = {
    credentials: async () => {
      await device.clock.sleep(20);
      return credentials.credentials();
    },
  };
  device.intercept('', () => device.clock.sleep(600), 50);
  const begin = device.clock.uptime;
  assert.equal((await push(device, client, device.server.send())).code, 'SP-TIMEOUT');
  assert.ok(device.clock.uptime - begin <= 25);
});

simulated('a lease and a claim do not depend on the time of day', async (device) => {
  const id = device.server.send();
  device.server.revokeAccessTokens();
  const [worker, page] = [device.start(), device.start()];
  const year = 400 * 86_400;
  // While the worker refreshes its token, and while it shows the secret, the date jumps and the page does the same.
  device.intercept('POST /api/token', async () => {
    device.clock.dateOffset += year;
    await device.clock.sleep(3);
  });
  const { showSecret } = worker.client.presenter;
  worker.client.presenter.showSecret = async (secret) => {
    device.clock.dateOffset -= year;
    await device.clock.sleep(3);
    await showSecret(secret);
  };
  const text = device.push(id);
  await Promise.all([device.receive(worker, text), device.clock.sleep(1).then(() => page.client.catchUp())]);
  assert.equal(device.screen.secrets.get(id), 1);
  assert.equal(device.server.requests('POST /api/token'), 2);
});

simulated('registrations at the same time make one installation', async (device) => {
  const { client } = device.start();
  const ids = await Promise.all(Array.from({ length: 5 }, () => client.register(browser)));
  assert.equal(new Set(ids).size, 1);
  assert.equal(device.server.requests('PUT /api/installations'), 1);
});

for (const seed of [1, 2, 3, 4]) {
  simulated(`two tabs that register at the same time make one installation (order ${seed})`, async (device) => {
    const ids = await Promise.all([device.start(), device.start()].map(({ client }) => client.register(browser)));
    assert.equal(new Set(ids).size, 1);
    assert.equal(device.server.installations.size, 1);
  }, { seed });
}

simulated('a damaged installation ID is replaced', async (device) => {
  await device.start().client.register(browser);
  device.disk.state.registration.installationID = '../token';
  const id = await device.start().client.register(browser);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.ok(!device.server.log.some((line) => line.includes('..')));
});

simulated('the other windows are told of a log-in, a log-out and the end of a session, once each', async (device) => {
  const { client, credentials } = device.start();
  const told = [];
  credentials.events = { send: ({ kind }) => told.push(kind) };
  await client.catchUp();
  assert.deepEqual(told, []);
  device.server.endSessions();
  for (let count = 0; count < 2; count += 1) await client.catchUp();
  assert.deepEqual(told, ['session']);
  await logIn({ credentials });
  await credentials.logOut();
  assert.deepEqual(told, ['session', 'session', 'session']);
});
