import assert from 'node:assert/strict';
import { answer, proxyAnswer } from './simulation/server.mjs';
import { browser, push, simulated } from './support/simulated.mjs';

const bytes = (text) => new TextEncoder().encode(text);
const json = (status, value) => answer(status, value, { 'content-type': 'application/json' });
const bare = (status) => ({ status, headers: {}, body: new Uint8Array() });

/** Who answers in place of the server: a captive portal, or a gateway that says nothing of its own but JSON. */
const others = { 'a proxy': proxyAnswer, 'a gateway': (status) => json(status, { message: 'no Route matched' }) };

/** Answers to a refresh that say nothing of the session. */
const strangers = {
  '400 text/html': proxyAnswer(400),
  '400 with another error': json(400, { error: 'invalid_request' }),
  '400 without a body': bare(400),
  '400 with half a JSON': json(400, '{"error":"invalid_grant"'),
  '400 text/html that says invalid_grant': proxyAnswer(400, '{"error":"invalid_grant"}'),
  '401 text/html': proxyAnswer(401),
  '401 text/html with a challenge': proxyAnswer(401, '', { 'www-authenticate': 'Bearer' }),
  '401 without a challenge': bare(401),
  '401 that asks for a log-in to the proxy': { ...bare(401), headers: { 'www-authenticate': 'Basic realm="proxy"' } },
  '401 of a gateway': { ...json(200, { message: 'Unauthorized' }), status: 401 },
  '401 of a gateway with a challenge': json(401, { message: 'Unauthorized' }),
  '400 without a type that says invalid_grant': { ...bare(400), body: bytes('{"error":"invalid_grant"}') },
  '403 text/html': proxyAnswer(403),
  '404 text/plain': proxyAnswer(404, '404 page not found', { 'content-type': 'text/plain' }),
  '407 text/html': proxyAnswer(407),
  '502 text/html': proxyAnswer(502),
  '511 text/html': proxyAnswer(511),
  'a redirect': answer(302),
  '200 text/html': proxyAnswer(200),
  '200 without a body': bare(200),
  '200 without the members': json(200, { ok: true }),
  '200 text/html with the members': proxyAnswer(200, '{"access_token":"stolen"}'),
  '204': bare(204),
};

for (const [name, reply] of Object.entries(strangers)) {
  simulated(`a refresh that is answered with ${name} keeps the session`, async (device) => {
    const id = device.server.send();
    device.server.revokeAccessTokens();
    const { refreshToken } = await device.disk.credentials();
    device.intercept('POST /api/token', () => reply, 20);
    const { client } = device.start();
    assert.equal((await push(device, client, id)).code, 'SP-CREDENTIALS');
    assert.deepEqual(device.screen.prompts, []);
    assert.equal((await device.disk.credentials()).refreshToken, refreshToken);
    device.interceptions.length = 0;
    assert.deepEqual((await client.catchUp()).shown, [id]);
  });
}

const refusals = {
  'the own 401': answer(401), '401 as problem+json': {
    status: 401, headers: { 'content-type': 'application/problem+json; charset=utf-8' }, body: bytes('{"status":401}'),
  },
  '401 with a challenge': { ...bare(401), headers: { 'www-authenticate': 'Bearer error="invalid_token", Basic' } },
  '400 invalid_grant': json(400, { error: 'invalid_grant' }),
};

for (const [name, reply] of Object.entries(refusals)) {
  simulated(`${name} ends the session`, async (device) => {
    const id = device.server.send();
    device.server.revokeAccessTokens();
    device.intercept('POST /api/token', () => reply);
    assert.equal((await push(device, device.start().client, id)).code, 'SP-401');
    assert.equal(device.screen.prompts.length, 1);
    assert.deepEqual(await device.disk.credentials(), {
      userName: 'alice', accessToken: null, expiresAt: null, refreshToken: null,
    });
  });
}

/** The pages of a captive portal and of a proxy, none of which is a success of any route. */
const pages = {
  '200 text/html': proxyAnswer(200), '200 without a body of text/html': proxyAnswer(200, ''),
  '200 of another JSON': json(200, { status: 'blocked' }), '202': bare(202),
};

for (const [name, reply] of Object.entries(pages)) {
  simulated(`${name} is no success at any route`, async (device) => {
    const { client } = device.start();
    const { server } = device;
    const meet = async (prefix, work) => {
      device.intercept(prefix, () => reply, 20);
      await work();
      device.interceptions.length = 0;
    };
    const rejects = (work) => assert.rejects(work, { code: 'SP-JSON' });
    await meet('PUT /api/installations', () => rejects(client.register(browser)));
    assert.equal(server.installations.size, 0);
    await meet('PUT /api/devices', () => rejects(client.register(browser)));
    assert.equal(server.keys.size, 0);
    await client.register(browser);
    assert.equal(server.keys.size, 1);
    const id = server.send();
    await meet(`GET /api/notifications/${id}`, () => push(device, client, id));
    assert.equal(device.screen.notices[0].code, 'SP-JSON');
    await meet('GET /api/notifications?', async () => assert.equal((await client.catchUp()).code, 'SP-JSON'));
    await meet(`POST /api/notifications/${id}/shown`, () => client.catchUp());
    assert.equal(device.screen.secrets.get(id), 1);
    const reported = server.requests(`POST /api/notifications/${id}/shown`);
    await client.catchUp();
    assert.equal(server.requests(`POST /api/notifications/${id}/shown`), reported + 1);
    await meet('POST /api/notifications/read', () => rejects(client.markAsRead([id])));
    await meet('POST /api/notifications/read', () => rejects(client.markAsReadThrough(id)));
    await meet('GET /api/notifications?', () => rejects(client.inbox()));
    await meet('DELETE /api/installations', async () => assert.equal(await client.unregister(), false));
    assert.equal(server.installations.size, 1);
    assert.equal(await client.finishLogOut(), true);
    assert.equal(server.installations.size, 0);
  });
}

for (const [name, stranger] of Object.entries(others)) for (const status of [401, 403, 404, 410]) {
  simulated(`${status} of ${name} ends nothing`, async (device) => {
    const { client } = device.start();
    const first = await client.register(browser);
    const id = device.server.send();
    device.intercept('GET /api/notifications/', () => stranger(status), 20);
    assert.equal((await push(device, client, id)).code, 'SP-JSON');
    assert.deepEqual(await client.waiting(), [id]);
    assert.deepEqual(device.screen.prompts, []);
    device.interceptions.length = 0;
    assert.deepEqual((await client.catchUp()).shown, [id]);
    // A withdrawal is questioned, and the stranger's answer does not confirm it.
    device.intercept('HEAD /api/notifications/', () => ({ ...stranger(status), body: new Uint8Array() }), 20);
    await push(device, client, id, { withdraw: true });
    assert.deepEqual([...device.screen.visible], [id]);
    device.intercept('PUT /api/installations', () => stranger(status), 20);
    await device.clock.sleep(8 * 86_400);
    await assert.rejects(client.register(browser), { code: 'SP-JSON' });
    device.interceptions.length = 0;
    assert.equal(await client.register(browser), first);
  });

  simulated(`${status} of ${name} at the log-in stores no password`, async (device) => {
    const { credentials } = device.start();
    device.intercept('POST /api/token', () => stranger(status));
    await assert.rejects(credentials.logIn('alice', 'secret'));
    assert.equal(JSON.stringify(device.disk).includes('secret'), false);
  });
}

simulated('204 is a success only where the route says so', async (device) => {
  const { client } = device.start();
  device.intercept('PUT /api/installations', () => bare(204));
  await assert.rejects(client.register(browser), { code: 'SP-JSON' });
  const id = device.server.send();
  await push(device, client, id);
  device.intercept('HEAD /api/notifications/', () => bare(204), 20);
  await push(device, client, id, { withdraw: true });
  assert.deepEqual(device.disk.state.unconfirmed, [id]);
});

const postponing = {
  'a redirect': answer(302), 429: answer(429), 511: proxyAnswer(511), '404 of a gateway': others['a gateway'](404),
};

for (const [name, reply] of Object.entries(postponing)) {
  simulated(`a report that is answered with ${name} is sent again at the next wake`, async (device) => {
    const id = device.server.send();
    const { client } = device.start();
    device.intercept(`POST /api/notifications/${id}/shown`, () => reply, 20);
    await push(device, client, id);
    assert.deepEqual(device.disk.state.unreported, [id]);
    device.interceptions.length = 0;
    await client.catchUp();
    assert.deepEqual(device.disk.state.unreported, []);
    assert.equal(device.server.requests(`POST /api/notifications/${id}/shown`), 1);
  });
}

simulated('a report that the server refuses for good is not sent again', async (device) => {
  const id = device.server.send();
  device.intercept(`POST /api/notifications/${id}/shown`, () => answer(410), 20);
  await push(device, device.start().client, id);
  assert.deepEqual(device.disk.state.unreported, []);
});

simulated('401 of a proxy does not end a session without refresh tokens', async (device) => {
  const id = device.server.send();
  const { client, credentials } = device.start();
  await credentials.logInWithToken('alice', device.server.tokens().access);
  device.intercept('GET /api/notifications', () => proxyAnswer(401), 20);
  await push(device, client, id);
  device.interceptions.length = 0;
  assert.deepEqual((await client.catchUp()).shown, [id]);
});
