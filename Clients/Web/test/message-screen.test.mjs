import assert from 'node:assert/strict';
import test from 'node:test';
import { WebApp } from './support/app.mjs';
import { violations } from './support/axe.mjs';
import { look, looks, misfits } from './support/looks.mjs';
import { Site } from './support/site.mjs';

const actions = [
  { Id: 'approve', Title: 'It is me' }, { Id: 'deny', Title: 'Not me' }, { Id: 'write', Title: 'Write', Input: true },
];
const question = {
  Title: 'Log-in in Lisbon', Body: 'Somebody logs in to your account with Firefox.\nIs it you?',
  Link: 'https://app.example.org/log-ins/7', Level: 'time-sensitive', Actions: actions,
};
const answers = actions.map(({ Id }) => Id);

/** The example in Chromium against a simulated server: messages with answers, and the user's devices. */
test('the screens of the example', { timeout: 600_000 }, async (context) => {
  const site = await Site.start();
  context.after(() => site.stop());
  const app = await WebApp.start(site);
  context.after(() => app.close());
  const { server } = site;
  const ids = {
    number: server.send(question, { answers, challenge: '42' }),
    text: server.send({ Body: 'May we come on Monday?', Actions: actions.slice(2) }, { answers }),
    other: server.send({ Body: 'Yes or no?', Actions: actions }, { answers }),
    hostile: server.send({ Title: '<img src=x onerror=alert(1)>', Body: '<b>bold</b>', Link: 'javascript:alert(1)' }),
    data: server.send({ n: 1 }),
    short: server.send('It goes soon.'),
  };
  for (const [id, platform] of [['phone-1', 'apns'], ['phone-2', 'fcmv1'], ['laptop', 'wns']]) {
    server.installations.set(id, { platform });
  }
  const page = await app.openPage();
  await app.logIn();
  await page.until(() => document.querySelectorAll('.entry').length === 6);
  const step = (name, body) => context.test(name, body);
  const secret = (id, selector = '') => `#secret-${id} ${selector}`;
  const open = async (id) => {
    await page.evaluate((name) => document.querySelector(`[aria-controls="secret-${name}"]`).click(), id);
    await page.until((name) => !/^(Asking|$)/.test(document.getElementById(`secret-${name}`).textContent), id);
  };
  const press = (selector, words) => page.evaluate((where, label) => (
    [...document.querySelectorAll(where)].find(({ textContent }) => textContent === label).click()), selector, words);
  const shows = (selector, words) => page.until((where, label) => (
    document.querySelector(where)?.textContent === label), selector, words);
  const type = (selector, value) => page.evaluate((where, words) => {
    document.querySelector(where).value = words;
  }, selector, value);
  const check = async (state) => {
    for (const [name, [width, features]] of Object.entries({ ...looks, 'dark phone': [390, looks.dark[1]] })) {
      await look(page, [width, { 'prefers-reduced-motion': 'reduce', ...features }]);
      assert.deepEqual(await violations(page), [], `${state}, ${name}`);
      assert.deepEqual(await misfits(page, ['button:not([hidden])', '.link']), [0, []], `${state}, ${name}`);
    }
  };

  await step('what has expired is not shown any longer', async () => {
    server.stored.at(-1).more.ExpiresAt = new Date(Date.now() + 5_000).toISOString();
    await open(ids.short);
    await shows(secret(ids.short), 'It goes soon.');
    await page.until((id) => document.querySelector(`[aria-controls="secret-${id}"]`).ariaExpanded === 'false', ids.short);
  });

  await step('a message has its title, its text and a link, and nothing of it is HTML', async () => {
    await open(ids.number);
    const parts = await page.evaluate((where) => [...document.querySelector(where).children].slice(0, 3)
      .map(({ localName, textContent }) => `${localName}: ${textContent}`), secret(ids.number));
    assert.deepEqual(parts, [`h3: ${question.Title}`, `p: ${question.Body}`, 'a: Open app.example.org']);
    const [href, rel] = await page.evaluate((where) => {
      const link = document.querySelector(where);
      return [link.href, link.rel];
    }, secret(ids.number, 'a'));
    assert.deepEqual([href, rel], [question.Link, 'noopener noreferrer']);
    await open(ids.hostile);
    assert.deepEqual(await page.evaluate((where) => [
      ...document.querySelector(where).children].map(({ localName, textContent }) => `${localName}: ${textContent}`), secret(ids.hostile)),
    ['h3: <img src=x onerror=alert(1)>', 'p: <b>bold</b>']);
    await open(ids.data);
    await shows(secret(ids.data), '{"n":1}');
    await check('messages');
  });

  await step('an answer asks for the challenge when the server does, and tells whether it was right', async () => {
    await press(secret(ids.number, '.actions button'), 'It is me');
    await page.until((where) => document.activeElement?.matches(where), secret(ids.number, 'input'));
    assert.deepEqual(await violations(page), []);
    await type(secret(ids.number, 'input'), '41');
    await press(secret(ids.number, 'form button'), 'Send: It is me');
    await page.until((where) => document.querySelector(where).textContent.includes('three tries'), secret(ids.number, '.outcome'));
    await type(secret(ids.number, 'input'), '42');
    await press(secret(ids.number, 'form button'), 'Send: It is me');
    await shows(secret(ids.number, '.outcome'), 'Answered: It is me.');
    assert.deepEqual(server.stored[0].answer, { action: 'approve', text: null });
    assert.equal(await page.evaluate((where) => document.querySelector(where), secret(ids.number, 'button')), null);
  });

  await step('an answer with a text is typed', async () => {
    await open(ids.text);
    await press(secret(ids.text, '.actions button'), 'Write');
    await type(secret(ids.text, 'textarea'), 'On Tuesday, please.');
    await press(secret(ids.text, 'form button'), 'Send: Write');
    await shows(secret(ids.text, '.outcome'), 'Answered: Write.');
    assert.deepEqual(server.stored[1].answer, { action: 'write', text: 'On Tuesday, please.' });
  });

  await step('an answer that comes second is told so', async () => {
    await open(ids.other);
    server.stored[2].answer = { action: 'approve', text: null };
    await press(secret(ids.other, '.actions button'), 'Not me');
    await shows(secret(ids.other, '.outcome'), 'This was answered differently before.');
  });

  await step('a notification has the title and the buttons of its message, and a button answers', async () => {
    const id = server.send({ ...question, Level: 'active' }, { answers });
    await app.deliver(JSON.stringify({ secureId: id }));
    const worker = await app.worker();
    const seen = await worker.evaluate(async (tag) => {
      const [{ title, body, actions: buttons }] = await self.registration.getNotifications({ tag });
      return [title, body, buttons.map(({ action, title: label }) => [action, label])];
    }, id);
    assert.deepEqual(seen, [question.Title, question.Body, [['approve', 'It is me'], ['deny', 'Not me']]]);
    await worker.evaluate(async (tag) => {
      const [notification] = await self.registration.getNotifications({ tag });
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'deny' }));
    }, id);
    await app.untilShown((list) => list.every(({ tag, kind }) => tag !== id || kind === 'brief'));
    assert.deepEqual(server.stored.at(-1).answer, { action: 'deny', text: null });
    const hidden = server.send('4711', { Display: 'app' });
    await app.deliver(JSON.stringify({ secureId: hidden }));
    const { body } = (await app.notifications()).find(({ tag }) => tag === hidden);
    assert.equal(body, 'You have a new message. Open the app to read it.');
  });

  await step('the user sees the devices, removes one, and signs out everywhere', async () => {
    await press('#views button', 'Devices');
    await page.until(() => document.querySelectorAll('#device-list li').length === 3);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#device-list .name')].map((name) => name.textContent)),
      ['Windows', 'Apple', 'Android']);
    await check('devices');
    await press('#device-list li:nth-child(2) button', 'Remove');
    await press('#device-list li:nth-child(2) button', 'Really: Remove?');
    await page.until(() => document.querySelectorAll('#device-list li').length === 2);
    assert.deepEqual([...server.installations.keys()].sort(), ['laptop', 'phone-2']);
    await press('#sign-out', 'Sign out everywhere');
    await press('#sign-out', 'Really: Sign out everywhere?');
    await page.until(() => document.getElementById('log-in').hidden === false);
    assert.equal(server.installations.size, 0);
    assert.equal(await page.evaluate(() => document.querySelectorAll('.entry, #device-list li').length), 0);
  });

  await step('nothing broke the policy or threw', () => {
    assert.deepEqual(page.log.filter((line) => /exception|Content Security/.test(line)), []);
  });
});
