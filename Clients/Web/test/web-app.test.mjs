import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { WebApp } from './support/app.mjs';
import { violations } from './support/axe.mjs';
import { look, looks } from './support/looks.mjs';
import { Stack } from './support/stack.mjs';

/** The example as its user meets it, in headless Chromium against the services: list, focus, session, no network. */
test('the page of the example', { timeout: 900_000 }, async (context) => {
  const stack = await Stack.start();
  context.after(() => stack.stop());
  const app = await WebApp.start(stack);
  context.after(() => app.close());
  const step = (name, body) => context.test(name, body);
  const press = async (key, { shift = false } = {}) => {
    const code = { Tab: 9, Enter: 13, ' ': 32 }[key];
    for (const type of ['keyDown', 'keyUp']) {
      await app.page.send('Input.dispatchKeyEvent', {
        type, key, code: key, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0,
        text: type === 'keyDown' && key !== 'Tab' ? key.replace('Enter', '\r') : undefined,
      });
    }
  };
  /** Presses Tab until an element has the focus. */
  const tabTo = async (selector) => {
    for (let stops = 0; stops < 80; stops += 1) {
      if (await app.page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
      await press('Tab');
    }
    assert.fail(`Tab does not reach ${selector}`);
  };
  const focus = (page = app.page) => page.evaluate(() => document.activeElement.id || document.activeElement.localName);
  const until50 = (page) => page.until(() => document.querySelectorAll('.entry').length === 50);
  const news = () => app.page.evaluate(() => document.getElementById('news').textContent);
  const show = (page) => page.send('Page.bringToFront');
  const top = () => app.page.evaluate(() => document.querySelector('.entry')?.dataset.id);
  /** Counts what a screen reader is told from now on. */
  const listen = () => app.page.evaluate(() => {
    window.told = [];
    new MutationObserver(() => {
      const { textContent } = document.getElementById('news');
      if (textContent) window.told.push(textContent);
    }).observe(document.getElementById('news'), { childList: true });
  });
  /** Puts a token in place that has ended, without a word. */
  const endSession = async () => {
    const token = await stack.securepush(
      'token', '--user', 'alice', '--signing-key-file', `${stack.folder}/secrets/token-signing-key.pem`,
      '--expires-at', '2026-01-01T00:00:00Z');
    await app.driver.evaluate(async (url, accessToken) => {
      const { store } = await import(url);
      await store.saveCredentials({
        userName: 'alice', accessToken, expiresAt: null, refreshToken: null,
      });
    }, `${stack.app}client.js`, token);
  };
  const offline = async (isOffline) => {
    const conditions = { offline: isOffline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    for (const target of [app.page, await app.worker()]) {
      await target.send('Network.enable');
      await target.send('Network.emulateNetworkConditions', conditions);
    }
  };

  const ids = await stack.sendAll(Array.from({ length: 1_250 }, (_, number) => `Message ${number}`));
  await stack.markAsReadThrough(ids.at(-1));

  await step('the log-in is done with the keyboard, and the focus goes to the messages', async () => {
    const page = await app.openPage();
    await show(page);
    await tabTo('#user-name');
    await page.send('Input.insertText', { text: 'alice' });
    await tabTo('#password');
    await page.send('Input.insertText', { text: stack.password });
    await press('Enter');
    await page.until(() => !document.getElementById('inbox').hidden);
    assert.equal(await focus(), 'inbox-title');
    await page.until(() => document.getElementById('fact-channel').textContent.includes('listens to the emulator'));
  });

  await step('the newest are on top, of 1,250', async () => {
    await until50(app.page);
    const listed = await app.page.evaluate(() => (
      [...document.querySelectorAll('.entry')].map((item) => item.dataset.id)));
    assert.deepEqual(listed, [...ids].sort().slice(-50).reverse());
    const [first, next] = await app.page.evaluate(async (folder) => {
      const [{ client }, { NewestMessages }] = await Promise.all(
        ['client.js', 'newest.js'].map((name) => import(folder + name)));
      let count = 0;
      const messages = new NewestMessages({ inbox: (options) => { count += 1; return client.inbox(options); } });
      const counts = [];
      for (let look = 0; look < 2; look += 1) {
        count = 0;
        await messages.list();
        counts.push(count);
      }
      return counts;
    }, stack.app);
    assert.ok(first <= 30, `${first} requests for the first look`);
    assert.equal(next, 1, 'one request for a list that is known');
  });

  await step('a push moves no focus, closes nothing, and is told once', async () => {
    await app.page.evaluate(() => document.activeElement.blur());
    await tabTo('.entry .row');
    await press('Enter');
    await app.page.until(() => document.querySelector('.entry .secret').textContent.startsWith('Message'));
    const before = await top();
    await listen();
    const id = await app.duringWake(() => stack.send('One more.'));
    await app.page.until((newest) => document.querySelector('.entry').dataset.id === newest, id);
    assert.equal(await app.page.evaluate(() => document.activeElement.closest('.entry')?.dataset.id), before);
    assert.ok(await app.page.evaluate((key) => document.getElementById(`secret-${key}`).textContent, before));
    await app.deliverWithoutWaiting(await stack.push(id));
    await app.page.evaluate(() => new Promise((done) => {
      document.dispatchEvent(new Event('visibilitychange'));
      setTimeout(done, 2_000);
    }));
    assert.deepEqual(await app.page.evaluate(() => window.told), ['One new message.']);
  });

  await step('the address of an older message opens it, in an open page too, and an unknown one says so', async () => {
    const old = [...ids].sort()[0];
    for (const name of [old, old.toUpperCase()]) {
      await app.page.evaluate((id) => { location.hash = id; }, name);
      await app.page.until((id) => document.getElementById(`secret-${id}`)?.textContent.startsWith('Message'), old);
      assert.equal(await app.page.evaluate(() => document.activeElement.closest('.entry')?.dataset.id), old);
      assert.equal(await app.page.evaluate(() => location.hash), '');
    }
    assert.equal(await app.page.evaluate(() => document.querySelector('.entry:last-child').dataset.id), old);
    for (const unknown of ['0190f0aa-0000-7000-8000-000000000001', '../token']) {
      await app.page.evaluate((id) => { location.hash = id; }, unknown);
      await app.page.until(() => (
        document.getElementById('status').textContent === 'This message is no longer there. (SP-404)'));
      assert.equal(await news(), 'This message is no longer there. (SP-404)');
      await app.page.evaluate(() => { document.getElementById('status').textContent = ''; });
    }
    await app.closePage();
    await app.openPage({ hash: `#${ids[7]}` });
    await app.page.until((id) => document.getElementById(`secret-${id}`)?.textContent.startsWith('Message'), ids[7]);
  });

  await step('a click on a notification opens the message in the window', async () => {
    await show(app.page);
    const worker = await app.worker();
    await worker.evaluate(async (id) => {
      const click = Object.assign(new Event('notificationclick'), {
        notification: { data: { securePush: 1, secureId: id }, close() {} }, waitUntil() {},
      });
      self.dispatchEvent(click);
    }, ids[9]);
    await app.page.until((id) => document.getElementById(`secret-${id}`)?.textContent.startsWith('Message'), ids[9]);
  });

  await step('unread messages have words, and are marked as read with the keyboard', async () => {
    // No push arrives, and no wake fetches them.
    await stack.json('/emulator/faults', {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ Platform: 'browser', Status: 400, Count: 3 }),
    });
    await app.page.evaluate(async (url) => {
      (await import(url)).client.catchUp = async () => ({ result: 'noData' });
    }, `${stack.app}client.js`);
    const [newest] = [...await stack.sendAll(['A', 'B', 'C'])].sort().slice(-1);
    await app.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await app.page.until((id) => document.querySelector('.entry').dataset.id === id, newest);
    assert.deepEqual(await app.page.evaluate(() => [
      document.getElementById('unread').textContent, document.querySelectorAll('.entry.unread').length, document.title,
    ]), ['3 new', 3, '(3) SecurePush']);
    assert.equal(await news(), '3 new messages.');
    await app.page.evaluate(() => document.activeElement.blur());
    await tabTo('#mark-all');
    await press(' ');
    await app.page.until(() => document.querySelectorAll('.entry.unread').length === 0);
    assert.equal(await focus(), 'inbox-title');
    assert.equal(await app.page.evaluate(() => document.getElementById('unread').hidden), true);
  });

  await step('names and messages can be read at 320 px', async () => {
    await app.page.send('Emulation.setDeviceMetricsOverride', {
      width: 320, height: 700, deviceScaleFactor: 1, mobile: true,
    });
    const name = 'maximiliane.mustermann-oberhuber@notifications.example.com';
    const cut = await app.page.evaluate((long) => {
      document.getElementById('who').textContent = long;
      const found = [...document.querySelectorAll('#who, #log-out, .row > *')].filter((element) => (
        element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline'));
      return [document.documentElement.scrollWidth, ...found.map((element) => element.outerHTML)];
    }, name);
    assert.deepEqual(cut, [320]);
    await app.page.send('Emulation.clearDeviceMetricsOverride');
    await app.page.evaluate(() => { document.getElementById('who').textContent = 'alice'; });
  });

  await step('without a network the app opens, says so at once, and goes on by itself', async () => {
    await app.page.until(async () => (await (await caches.open('shell')).keys()).length > 30);
    await offline(true);
    await app.page.navigate(stack.app);
    await app.page.until(() => document.getElementById('status').textContent.startsWith('There is no network.'));
    await app.page.until(() => document.getElementById('who').textContent === 'alice');
    assert.ok(await app.page.evaluate(() => document.getElementById('empty').hidden));
    await offline(false);
    await until50(app.page);
    await app.page.until(() => document.getElementById('status').hidden);
    await app.deliver(await stack.push(await stack.send('The worker works.')));
    await app.untilShown((list) => list.some(({ body }) => body === 'The worker works.'));
    await offline(true);
    await app.page.evaluate(() => document.querySelector('.entry .row').click());
    await app.page.until(() => document.querySelector('.entry .secret').textContent.startsWith('There is no network.'));
    assert.match(await news(), /^There is no network/);
    await offline(false);
    await app.page.until(() => document.querySelector('.entry .secret').textContent === 'The worker works.');
  });

  await step('without its storage for a while the app says so, and goes on by itself', async () => {
    const { identifier } = await app.page.send('Page.addScriptToEvaluateOnNewDocument', {
      source: 'self.openStorage = IDBFactory.prototype.open; IDBFactory.prototype.open = () => ({});',
    });
    await app.page.navigate(stack.app);
    await app.page.until(() => document.getElementById('status').textContent.endsWith('(SP-CREDENTIALS)'));
    await app.page.evaluate(() => { IDBFactory.prototype.open = self.openStorage; });
    await until50(app.page);
    await app.page.until(() => document.getElementById('status').hidden);
    await app.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  });

  await step('a new version takes the place of the one that is kept, and no message is kept', async () => {
    const file = join(stack.folder, 'web/texts.js');
    writeFileSync(file, readFileSync(file, 'utf8').replace("inboxTitle: 'Messages'", "inboxTitle: 'Newer messages'"));
    // On a busy machine the network may be too slow, and the kept version opens.
    for (let title = '', deadline = Date.now() + 60_000; title !== 'Newer messages';) {
      assert.ok(Date.now() < deadline, title);
      await app.page.navigate(stack.app);
      title = await app.page.until(() => document.getElementById('inbox-title').textContent);
    }
    await app.page.until(async (url) => (
      (await (await caches.match(url)).text()).includes('Newer messages')), `${stack.app}texts.js`);
    await offline(true);
    await app.page.navigate(stack.app);
    await app.page.until(() => document.getElementById('inbox-title').textContent === 'Newer messages');
    await offline(false);
    const kept = await app.page.evaluate(async () => {
      const requests = await (await caches.open('shell')).keys();
      return requests.map(({ url }) => url);
    });
    assert.ok(kept.every((url) => url.startsWith(stack.app)), kept.join());
  });

  await step('an ended session leads to the log-in in every tab, with the focus there', async () => {
    const other = await app.browser.open(stack.app);
    await until50(other);
    await show(app.page);
    await until50(app.page);
    await endSession();
    await app.page.evaluate(() => document.querySelector('.entry:nth-child(3) .row').click());
    for (const page of [app.page, other]) {
      await page.until(() => !document.getElementById('log-in').hidden);
      assert.match(await page.evaluate(() => document.getElementById('log-in-reason').textContent),
        /^(Your session has ended|A message is waiting)\. /);
      assert.equal(await focus(page), 'password');
      assert.equal(await page.evaluate(() => document.querySelectorAll('.entry').length), 0);
    }
    await app.logIn();
    for (const page of [app.page, other]) {
      await until50(page);
      assert.equal(await focus(page), 'inbox-title');
    }
    await app.logOut();
    assert.equal(await focus(), 'user-name');
    await other.until(() => !document.getElementById('log-in').hidden);
    assert.equal(await focus(other), 'user-name');
    assert.equal(await other.evaluate(() => document.querySelectorAll('.entry').length), 0);
    await app.browser.send('Target.closeTarget', { targetId: other.targetId });
  });

  await step('a log-out without a network leaves nothing here, and the server is told later', async () => {
    const { page } = app;
    const stored = () => app.driver.evaluate(async (url) => {
      const { store } = await import(url);
      const values = await Promise.all([store.credentials(), store.deviceKeys(), store.departures()]);
      return [values[0], values[1].length, values[2].length];
    }, `${stack.app}client.js`);
    const registered = async () => (await stack.json('/emulator/devices'))
      .filter(({ Platform: platform, Tags: tags }) => platform === 'browser' && tags.includes('username:alice')).length;
    await show(page);
    await app.logIn();
    await until50(page);
    await page.until(() => document.getElementById('fact-channel').textContent.includes('listens to the emulator'));
    assert.equal(await registered(), 1);
    await offline(true);
    await app.logOut();
    assert.deepEqual(await stored(), [null, 0, 1]);
    assert.equal(await page.evaluate(() => document.querySelectorAll('.entry').length), 0);
    assert.deepEqual((await app.notifications()).filter(({ kind }) => kind === 'secret'), []);
    assert.equal(await registered(), 1);
    await offline(false);
    for (let tries = 0; await registered() > 0; tries += 1) {
      assert.ok(tries < 100, 'the server is not told');
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    assert.equal(await page.evaluate(() => document.getElementById('log-in').hidden), false);
  });

  await step('axe finds nothing in any state, size and scheme', async () => {
    const { page } = app;
    await show(page);
    const check = async (state) => {
      for (const [name, [width, features]] of Object.entries({ ...looks, 'dark phone': [390, looks.dark[1]] })) {
        // Without motion: elements that arrive are transparent for a moment.
        await look(page, [width, { 'prefers-reduced-motion': 'reduce', ...features }]);
        assert.deepEqual(await violations(page), [], `${state}, ${name}`);
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.equal(excess, 0, `${state}, ${name}`);
      }
    };
    await check('log-in');
    await app.logIn('wrong');
    await page.until(() => !document.getElementById('log-in-error').hidden);
    await check('wrong password');
    await app.logIn();
    await until50(page);
    await check('list');
    await page.evaluate(() => document.querySelector('.entry .row').click());
    await page.until(() => document.querySelector('.entry .secret').textContent === 'The worker works.');
    await check('opened');
    await offline(true);
    await page.until(() => !document.getElementById('status').hidden);
    await page.evaluate(() => document.querySelectorAll('.entry .row')[1].click());
    await check('offline');
    await offline(false);
    await page.evaluate(() => {
      document.getElementById('entries').replaceChildren();
      document.getElementById('empty').hidden = false;
    });
    await check('empty');
    await endSession();
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.until(() => !document.getElementById('log-in').hidden);
    await check('ended session');
    await page.send('Emulation.setUserAgentOverride', {
      userAgent: await page.evaluate(() => navigator.userAgent), acceptLanguage: 'de-DE',
    });
    await page.navigate(stack.app);
    await page.until(() => document.getElementById('log-in-title').textContent === 'Anmelden');
    await check('German log-in');
    await app.logIn();
    await until50(page);
    await check('German list');
    await page.evaluate(() => document.querySelector('main').append(document.createElement('button')));
    assert.match((await violations(page)).join(), /button-name/, 'axe finds what is wrong');
  });

  await step('nothing broke the policy or threw', () => {
    assert.deepEqual(app.page.log.filter((line) => /exception|Content Security/.test(line)), []);
  });
});
