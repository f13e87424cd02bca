import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeBase64URL } from '../lib/base64url.js';
import { BoundedPresenter } from '../lib/bounded.js';
import { WebNotificationPresenter } from '../lib/presenter.js';
import { IncomingPush } from '../lib/push.js';
import { messageData } from './simulation/device.mjs';
import { answer } from './simulation/server.mjs';
import { logIn, serverKey, simulated, subscription } from './support/simulated.mjs';

/** What a browser shows: one notification for each tag, in order, and how often each was shown with a sound. */
class Screen {
  constructor() {
    this.notifications = [];
    this.sounds = 0;
    this.shows = 0;
    this.registration = {
      showNotification: async (title, { body, tag, data, silent = false, renotify = false, ...more }) => {
        if (renotify && !tag) throw new TypeError('renotify needs a tag');
        this.notifications = this.notifications.filter((shown) => shown.tag !== tag);
        const close = () => { this.notifications = this.notifications.filter((shown) => shown.close !== close); };
        this.notifications.push({ title, body, tag, data, close, silent, ...more });
        this.shows += 1;
        this.sounds += silent ? 0 : 1;
      },
      getNotifications: async () => [...this.notifications],
    };
    this.presenter = new WebNotificationPresenter({
      title: 'App', registration: () => this.registration, navigator: {},
    });
  }

  get bodies() { return this.notifications.map(({ body }) => body); }
}

/** A worker that shows notifications as in a browser. */
function start(device, screen) {
  const app = device.start();
  app.client.presenter = new BoundedPresenter(screen.presenter, device.clock);
  return app;
}

const deliver = (app, text, event = {}) => (
  app.worker.onPush({ data: text === null ? null : messageData(text), ...event }));

const withdrawn = 'This message was withdrawn.';
const repeated = 'You have this message already. Open the app to read it again.';

simulated('a withdrawal replaces the text without a sound, and the text goes later', async (device) => {
  const screen = new Screen();
  const id = device.server.send('The code is 4711.');
  // Another of the user's devices has read it.
  device.server.stored[0].isRead = true;
  const app = start(device, screen);
  await deliver(app, device.push(id));
  assert.deepEqual(screen.bodies, ['The code is 4711.']);
  await deliver(app, device.push(id, { withdraw: true }));
  assert.deepEqual([screen.bodies, screen.sounds], [[withdrawn], 1]);
  assert.deepEqual([...await screen.presenter.displayedSecrets()], []);
  assert.deepEqual(screen.bodies, [withdrawn]);
  screen.notifications[0].data.until = Date.now() - 1;
  await app.client.catchUp();
  assert.deepEqual(screen.bodies, []);
});

simulated('a brief text is closed by a timer, too', async (device) => {
  const timers = [];
  const { setTimeout: original } = globalThis;
  globalThis.setTimeout = (work, after) => { timers.push([work, after]); return {}; };
  try {
    const screen = new Screen();
    await screen.presenter.showAgain({ id: 'a', localizationKey: 'securepush.repeated', code: null, kind: 'brief' });
    const [[work, after]] = timers;
    assert.ok(after > 4_900 && after < 5_200, `${after} ms`);
    await work();
    assert.deepEqual(screen.bodies, [repeated]);
    screen.notifications[0].data.until = Date.now() - 1;
    await work();
    assert.deepEqual(screen.bodies, []);
  } finally {
    globalThis.setTimeout = original;
  }
  assert.ok(device);
});

simulated('the withdrawal of what the user does not see shows a text as well', async (device) => {
  const screen = new Screen();
  const app = start(device, screen);
  await deliver(app, device.push(device.server.send(), { withdraw: true }));
  // The inbox still has it, and a withdrawn notification is not fetched.
  assert.deepEqual(screen.bodies, [withdrawn]);
});

simulated('a repeated push shows its notification again without a sound', async (device) => {
  const screen = new Screen();
  const id = device.server.send('The code is 4711.');
  const app = start(device, screen);
  await deliver(app, device.push(id));
  for (const round of [2, 3]) {
    await deliver(app, device.push(id));
    assert.deepEqual([screen.bodies, screen.shows, screen.sounds], [['The code is 4711.'], round, 1]);
  }
  // The device's own read has come back as a withdrawal: the server still has it.
  await deliver(app, device.push(id, { withdraw: true }));
  assert.deepEqual([screen.bodies, screen.shows, screen.sounds], [['The code is 4711.'], 4, 1]);
  // The user has dismissed it.
  screen.notifications = [];
  await deliver(app, device.push(id));
  assert.deepEqual([screen.bodies, screen.sounds], [[repeated], 1]);
});

simulated('a repeated prompt comes again without a sound, and the log-in shows the secret', async (device) => {
  const screen = new Screen();
  const id = device.server.send('The code is 4711.');
  device.server.endSessions();
  const app = start(device, screen);
  await deliver(app, device.push(id));
  const prompt = 'You have a new message. Log in to read it. (SP-401)';
  assert.deepEqual([screen.bodies, screen.sounds], [[prompt], 1]);
  await deliver(app, device.push(id));
  assert.deepEqual([screen.bodies, screen.shows, screen.sounds], [[prompt], 2, 1]);
  screen.notifications = [];
  await deliver(app, device.push(id));
  assert.deepEqual([screen.bodies, screen.sounds], [[prompt.replace('SP-401', 'SP-LOGIN')], 1]);
  await logIn(app);
  await app.client.resumeAfterLogIn();
  assert.deepEqual(screen.bodies, ['The code is 4711.']);
});

const nothingNew = 'There is no new message.';

simulated('what is not genuine shows that there is nothing new, without a sound, and that goes', async (device) => {
  const screen = new Screen();
  const app = start(device, screen);
  const id = device.server.send('The code is 4711.');
  await deliver(app, device.push(id));
  for (const data of [{ secureId: id }, { secureId: id, withdraw: '1' }, { secureId: 'other' }, { secureId: '' }]) {
    await deliver(app, JSON.stringify({ ...data, ts: '1', sig: 'x' }));
    assert.deepEqual([screen.bodies, screen.sounds], [['The code is 4711.', nothingNew], 1]);
  }
  screen.notifications[1].data.until = Date.now() - 1;
  await app.client.catchUp();
  assert.deepEqual(screen.bodies, ['The code is 4711.']);
});

for (const status of [403, 404, 410]) {
  simulated(`a notification that the server does not give (${status}) shows a text in any case`, async (device) => {
    const screen = new Screen();
    const app = start(device, screen);
    app.client.configuration = { ...app.client.configuration, showsNoticeWhenGone: false };
    const id = device.server.send();
    device.server.stored[0].isRead = true;
    device.intercept(`GET /api/notifications/${id}`, () => answer(status), 100);
    await deliver(app, device.push(id));
    assert.deepEqual([screen.bodies, screen.sounds], [[nothingNew], 0]);
  });
}

const declarative = (values, more = {}) => ({
  web_push: 8030,
  notification: {
    title: 'New message', body: 'Open the app to read it.', navigate: 'https://app.example.com/', tag: values.secureId,
    data: values,
  },
  mutable: true, ...more,
});

simulated('a declarative message has its secret in its place', async (device) => {
  const id = device.server.send('The code is 4711.');
  const values = JSON.parse(device.push(id));
  const message = declarative(values, values);
  for (const [text, event] of [
    // Chrome and Firefox hand over the message; Safari proposes a notification, with or without the message.
    [JSON.stringify(message), {}], [null, { notification: { data: values } }],
    [JSON.stringify(declarative(values)), { notification: { data: values } }],
  ]) {
    const screen = new Screen();
    device.disk.state = (await import('../lib/state.js')).emptyState();
    await deliver(start(device, screen), text, event);
    assert.deepEqual(screen.notifications.map(({ body, tag }) => [body, tag]), [['The code is 4711.', id]]);
  }
});

simulated('what the browser has shown of a declarative message is replaced, withdrawn and opened', async (device) => {
  const screen = new Screen();
  const app = start(device, screen);
  const id = device.server.send('The code is 4711.');
  const values = JSON.parse(device.push(id));
  const { title, body, tag, data } = declarative(values).notification;
  const showByBrowser = () => screen.registration.showNotification(title, { body, tag, data });
  await showByBrowser();
  assert.deepEqual([...await screen.presenter.displayedSecrets()], []);
  await app.client.catchUp();
  assert.deepEqual(screen.bodies, ['The code is 4711.']);
  device.server.revoke(id);
  await showByBrowser();
  await screen.presenter.remove([id]);
  assert.deepEqual(screen.bodies, []);
});

test('a push event without anything is unusable, and one of others is not ours', () => {
  assert.deepEqual(IncomingPush.fromEvent({}), new IncomingPush({ isSecurePush: true }));
  assert.equal(IncomingPush.fromEvent({ data: messageData('{"other":1}') }).isSecurePush, false);
  assert.equal(
    IncomingPush.fromEvent({ data: messageData('{"other":1}'), notification: { data: { x: 1 } } }).isSecurePush, false);
});

/** The browser's push manager: the keys with which it was subscribed, in order. */
function pushManager() {
  const keys = [];
  let current = null;
  return {
    keys,
    getSubscription: async () => current,
    subscribe: async ({ applicationServerKey }) => {
      keys.push(encodeBase64URL(new Uint8Array(applicationServerKey)));
      const name = `${keys.length}`;
      current = {
        ...subscription(name), options: { applicationServerKey: new Uint8Array(applicationServerKey).buffer },
        unsubscribe: async () => { current = null; },
      };
      return current;
    },
  };
}

simulated('a page subscribes with the key of the server, and again when it has changed', async (device) => {
  const manager = pushManager();
  const { client } = device.start();
  client.pushManager = async () => manager;
  await assert.rejects(client.subscribe(), { code: 'SP-404' });
  const [first, second] = [encodeBase64URL(serverKey), encodeBase64URL(new Uint8Array(65).fill(5))];
  device.server.serverKey = first;
  const id = await client.subscribe({ tags: ['news'] });
  assert.equal(await client.subscribe({ tags: ['news'] }), id);
  device.server.serverKey = second;
  assert.equal(await client.subscribe({ tags: ['news'] }), id);
  assert.deepEqual(manager.keys, [first, second]);
  const { pushChannel, tags } = device.server.installations.get(id);
  assert.deepEqual([pushChannel.endpoint, tags], ['https://push.example.com/2', ['news']]);
  assert.equal(device.server.requests('PUT /api/installations'), 2);
});

simulated('a page that listened to the hub emulator keeps its installation when it subscribes', async (device) => {
  const { client } = device.start();
  const channel = { endpoint: 'https://emulator.invalid/browser/1', p256dh: 'BA', auth: 'AA' };
  const id = await client.register({ platform: 'browser', channel });
  device.server.serverKey = encodeBase64URL(serverKey);
  const manager = pushManager();
  client.pushManager = async () => manager;
  assert.equal(await client.subscribe(), id);
  assert.deepEqual([...device.server.installations.keys()], [id]);
  assert.equal(device.server.installations.get(id).pushChannel.endpoint, 'https://push.example.com/1');
});

for (const key of [7, 'AAAA', `${encodeBase64URL(serverKey)}=`, null]) {
  simulated(`the server key ${key} is none`, async (device) => {
    device.intercept('GET /api/push-config', () => ({
      status: 200, headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(JSON.stringify({ ApplicationServerKey: key })),
    }), 100);
    await assert.rejects(device.start().client.subscribe(), { code: 'SP-JSON' });
  });
}

const actions = [{ Id: 'approve', Title: 'Approve' }, { Id: 'reply', Title: 'Reply', Input: true }, { Id: 'no', Title: 'No' }];

simulated('a notification has the title, the level and the first actions of its message', async (device) => {
  const screen = new Screen();
  const { client, worker } = start(device, screen);
  globalThis.Notification = { maxActions: 2 };
  try {
    const urgent = device.server.send({
      Title: 'Log-in', Body: 'Is it you?', Level: 'time-sensitive', Actions: actions, Link: 'https://app.example.org/',
    });
    const event = { data: messageData(device.push(urgent)) };
    for (let count = 0; count < 2; count += 1) {
      await worker.onPush(event);
      const [{ title, body, tag, requireInteraction, actions: buttons, data }] = screen.notifications;
      assert.deepEqual([title, body, tag, requireInteraction], ['Log-in', 'Is it you?', urgent, true]);
      assert.deepEqual(buttons, [{ action: 'approve', title: 'Approve' }, { action: 'reply', title: 'Reply' }]);
      assert.deepEqual(data.actions, [{ id: 'approve', takesText: false }, { id: 'reply', takesText: true }]);
      assert.equal(data.link, 'https://app.example.org/');
    }
    assert.equal(screen.sounds, 1);
    await worker.onPush({ data: messageData(device.push(device.server.send({ Body: 'quiet', Level: 'passive' }))) });
    assert.equal(screen.sounds, 1);
    assert.equal(screen.notifications.at(-1).title, 'App');
    // The answer takes the place of the message, briefly.
    device.server.stored[0].answers = ['approve'];
    await client.answer(urgent, 'approve');
    assert.deepEqual(screen.bodies, ['quiet', 'Your answer was sent.']);
  } finally {
    delete globalThis.Notification;
  }
});

simulated('a secret for the app shows no code', async (device) => {
  const screen = new Screen();
  const { worker } = start(device, screen);
  await worker.onPush({ data: messageData(device.push(device.server.send('4711', { Display: 'app' }))) });
  assert.deepEqual(screen.bodies, ['You have a new message. Open the app to read it.']);
});
