import assert from 'node:assert/strict';
import test from 'node:test';
import { Stack } from './support/stack.mjs';
import { WebApp } from './support/app.mjs';
import { loadVectors } from './support/vectors.mjs';

/**
 * The example in headless Chromium against the services. Pushes are `push` events in the real service worker, with
 * the bytes that crossed the hub; what the user sees is read back from the worker.
 */
test('the example in Chromium', { timeout: 900_000 }, async (context) => {
  const stack = await Stack.start();
  context.after(() => stack.stop());
  const app = await WebApp.start(stack);
  context.after(() => app.close());
  const has = (shown, body) => shown.some((notification) => notification.body === body);
  const step = (name, body) => context.test(name, body);

  await step('the page is installable and keeps to its policy', async () => {
    const page = await app.openPage();
    const { errors } = await page.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const { installabilityErrors } = await page.send('Page.getInstallabilityErrors');
    assert.deepEqual(installabilityErrors, []);
    const refused = await page.evaluate(async () => {
      const element = document.createElement('script');
      let error = null;
      try { element.text = '1'; } catch (caught) { error = caught.name; }
      return error;
    });
    assert.equal(refused, 'TypeError', 'Trusted Types');
    assert.deepEqual(page.log.filter((line) => !line.includes('TrustedScript')), []);
  });

  await step('a wrong password is refused, the right one registers the browser', async () => {
    await app.logIn('wrong');
    await app.page.until(() => !document.getElementById('log-in-error').hidden);
    await app.logIn();
    await app.page.until(() => document.getElementById('fact-channel').textContent.includes('listens to the emulator'));
    const devices = await stack.json('/emulator/devices');
    const browser = devices.find((device) => device.Platform === 'browser');
    assert.match(browser.Handle, /^https:\/\/emulator\.invalid\/browser\//);
    assert.ok(browser.Tags.includes('username:alice'));
    const { Keys: keys } = await stack.recipientKeys('alice');
    assert.deepEqual(keys.map(({ Key: { x } }) => x), [await app.publicKey()]);
    await app.page.until(() => !document.getElementById('send-encrypted').hidden);
  });

  await step('a push shows the secret, and the ID is all that crossed the hub', async () => {
    await app.closePage();
    const id = await stack.send('The code is 4711.');
    const push = await stack.push(id);
    assert.deepEqual(JSON.parse(push), { secureId: id });
    await app.deliver(push);
    const shown = await app.untilShown((list) => has(list, 'The code is 4711.'));
    assert.deepEqual(shown, [{ title: 'SecurePush', body: 'The code is 4711.', tag: id, kind: 'secret' }]);
    const status = JSON.parse(await stack.securepush('status', id, '--json'));
    assert.ok(status.ReadAt && status.ShownAt);
  });

  await step('a repeated push shows nothing new', async () => {
    const [{ tag }] = await app.notifications();
    await app.deliver(JSON.stringify({ secureId: tag }));
    await app.deliver(await stack.push(tag));
    assert.equal((await app.notifications()).length, 1);
  });

  await step('an end-to-end encrypted secret is decrypted in the worker', async () => {
    const id = await stack.send('For this browser only.', '--e2e');
    const { Payload: payload } = await stack.fetchAsAlice(id);
    assert.deepEqual(Object.keys(payload).sort(), ['ct', 'e2e', 'iv', 'keys']);
    assert.ok(!JSON.stringify(payload).includes('browser only'));
    await app.deliver(await stack.push(id));
    await app.untilShown((list) => has(list, 'For this browser only.'));
    await app.duringWake(async () => {
      await stack.securepush('revoke', id);
      await app.deliverWithoutWaiting(await stack.push(id, { withdraw: true }));
    });
    await app.untilShown((list) => !has(list, 'For this browser only.'));
  });

  await step('what was revoked is withdrawn from the screen', async () => {
    const [{ tag }] = await app.notifications();
    await stack.securepush('revoke', tag);
    await app.deliver(await stack.push(tag, { withdraw: true }));
    await app.untilShown((list) => list.length === 0);
  });

  await step('one push brings what was missed, and sets the badge', async () => {
    const badges = await app.recordBadges();
    const [missed, id] = [await stack.send('Missed.'), await stack.send('Pushed.')];
    await stack.push(missed);
    await app.deliver(await stack.push(id));
    await app.untilShown((list) => has(list, 'Missed.') && has(list, 'Pushed.'));
    const counts = await badges();
    assert.equal(counts[0], 1, `${counts}`);
    assert.equal(counts.at(-1), 0, `${counts}`);
  });

  await step('an expired token shows the prompt, and the log-in shows the secret', async () => {
    const token = await stack.securepush(
      'token', '--user', 'alice', '--signing-key-file', `${stack.folder}/secrets/token-signing-key.pem`,
      '--expires-at', '2026-01-01T00:00:00Z');
    await app.setToken(token);
    const id = await stack.send('Only for alice.');
    await app.deliver(await stack.push(id));
    const prompted = await app.untilShown((list) => list.some((notification) => notification.kind === 'prompt'));
    assert.equal(
      prompted.find((notification) => notification.kind === 'prompt').body,
      'You have a new message. Log in to read it. (SP-401)');
    assert.ok(!has(prompted, 'Only for alice.'));
    const page = await app.openPage();
    assert.equal(
      await page.evaluate(() => document.getElementById('log-in-reason').textContent),
      'A message is waiting. Log in to read it.');
    await app.duringWake(() => app.logIn());
    await app.untilShown((list) => (
      has(list, 'Only for alice.') && !list.some((notification) => notification.kind === 'prompt')));
  });

  await step('hostile pushes cause no request and show no text of theirs', async () => {
    const before = await app.notifications();
    for (const text of ['', '[', '{"secureId":7,"text":"Send money to evil.example"}', '{"secureId":"a/../b"}']) {
      await app.deliverWithoutWaiting(text);
    }
    await new Promise((done) => setTimeout(done, 1_000));
    const after = await app.untilShown((list) => list.length === before.length + 1);
    assert.ok(after.some((notification) => notification.body.endsWith('(SP-PUSH)')));
    assert.ok(!JSON.stringify(after).includes('evil'));
  });

  await step('without a push service the open page listens to the emulator', async () => {
    await app.duringWake(() => stack.send('By the stream.'));
    await app.untilShown((list) => has(list, 'By the stream.'));
    await app.page.until(() => document.querySelectorAll('.entry').length >= 4);
    const deadline = Date.now() + 10_000;
    for (let isShown = false; !isShown;) {
      const devices = await stack.json('/emulator/devices');
      isShown = JSON.stringify(devices.find((device) => device.Platform === 'browser')).includes('By the stream.');
      assert.ok(isShown || Date.now() < deadline, 'the emulator page does not know what is shown');
    }
  });

  await step('the list opens a message and keeps its text in memory only', async () => {
    await app.page.evaluate(() => document.querySelector('.entry .row').click());
    await app.page.until(() => document.querySelector('.entry .secret').textContent === 'By the stream.');
    await app.page.evaluate(() => document.querySelector('.entry .row').click());
    assert.equal(await app.page.evaluate(() => document.querySelector('.entry .secret').textContent), '');
    const stored = await app.page.evaluate(async () => {
      const texts = [JSON.stringify(localStorage)];
      for (const { name } of await indexedDB.databases()) {
        const database = await new Promise((resolve) => {
          const request = indexedDB.open(name);
          request.onsuccess = () => resolve(request.result);
        });
        for (const table of database.objectStoreNames) {
          const values = await new Promise((resolve) => {
            const request = database.transaction(table).objectStore(table).getAll();
            request.onsuccess = () => resolve(request.result);
          });
          texts.push(JSON.stringify(values));
        }
        database.close();
      }
      return texts.join();
    });
    assert.ok(stored.includes('alice'));
    for (const secret of ['By the stream.', 'Only for alice.', 'Pushed.', stack.password]) {
      assert.ok(!stored.includes(secret), secret);
    }
  });

  await step('a worker that was ended starts again for the next push', async () => {
    await app.closePage();
    await app.driver.send('ServiceWorker.stopAllWorkers');
    const id = await stack.send('After the end.');
    await app.deliver(await stack.push(id));
    await app.untilShown((list) => has(list, 'After the end.'));
  });

  await step('the store serves many writers, and puts a damaged state aside', async () => {
    const result = await app.driver.evaluate(async (url) => {
      const { IndexedDBStore, DeviceKey } = await import(url);
      const stores = Array.from({ length: 4 }, () => new IndexedDBStore('test'));
      await Promise.all(Array.from({ length: 200 }, (_, number) => stores[number % 4].update((state) => {
        state.cursor = String(Number(state.cursor ?? 0) + 1);
      })));
      const keys = await Promise.all(stores.map(async (store) => {
        const made = await DeviceKey.generate(0);
        return store.updateDeviceKeys((known) => (known.length > 0 ? known : [made]));
      }));
      const [kept] = await new IndexedDBStore('test').deviceKeys();
      const records = Array.from({ length: 20 }, (_, at) => ({ id: `e${at % 10}`, notification: `n${at}`, at, expired: 4 }));
      const remembered = [];
      for (const record of records) remembered.push(await stores[record.at % 4].rememberEnvelope(record));
      const count = (await stores[0].read()).cursor;
      const database = await stores[0].update(() => {}).then(() => new Promise((resolve) => {
        const request = indexedDB.open('test');
        request.onsuccess = () => resolve(request.result);
      }));
      await new Promise((resolve) => {
        const transaction = database.transaction('values', 'readwrite');
        transaction.objectStore('values').put({ entries: 7 }, 'state');
        transaction.oncomplete = resolve;
      });
      database.close();
      const damaged = await stores[1].read();
      await stores[1].update((state) => { state.cursor = 'a'; });
      const error = await stores[2].update(() => { throw new Error('stop'); }).catch((caught) => caught.reason);
      return {
        count, keys: new Set(keys.flat().map(({ jwk }) => jwk.x)).size, isKept: kept.jwk.x === keys[0][0].jwk.x,
        remembered: remembered.map(Number).join(''),
        extractable: kept.privateKey.extractable, damaged: damaged.cursor, error,
        cursor: (await stores[3].read()).cursor,
      };
    }, `${stack.app}securepush/securepush.js`);
    assert.deepEqual(result, {
      count: '200', keys: 1, isKept: true, remembered: '11111111111111000000', extractable: false, damaged: null, cursor: 'a', error: 'unwritable',
    });
  });

  await step('the browser runs the vectors of signatures and envelopes', async () => {
    const results = await app.driver.evaluate(async (url, signatures, envelopes) => {
      const { DeviceKey, IncomingPush, openEnvelope, PushKeySet, PushVerifier, SenderKeySet } = await import(url);
      const wrong = [];
      const usable = (jwkSet, kind = PushKeySet) => { try { return kind.fromJWKSet(jwkSet); } catch { return null; } };
      const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (byte) => byte.charCodeAt(0));
      const deviceKey = async (jwk) => new DeviceKey(
        await crypto.subtle.importKey('jwk', jwk, { name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits']),
        new Uint8Array([4, ...bytes(jwk.x), ...bytes(jwk.y)]), 0);
      for (const { name, keys, learnedKeys, user, nowMs, push, expect } of signatures) {
        const incoming = new IncomingPush({ ...push, isSecurePush: true, isWithdrawal: push.withdraw });
        const set = usable(learnedKeys) ?? usable(keys);
        const isAccepted = set !== null
          && await new PushVerifier(set, 28 * 86_400).fault(incoming, user, nowMs / 1000) === null;
        if (isAccepted !== expect.accepted) wrong.push(name);
      }
      for (const entry of envelopes) {
        const { name, recipient, device, payload, senderKeys, requiresEncryption, notification, opened, expect } = entry;
        const known = new Map(opened.map((record) => [record.id.toLowerCase(), record.notification]));
        const opening = openEnvelope(payload, {
          recipient, device, requiresEncryption, now: entry.nowMs / 1000,
          keys: await Promise.all(entry.privateKeys.map(deviceKey)),
          senderKeys: senderKeys && (usable(senderKeys, SenderKeySet) ?? new SenderKeySet([])),
          remember: async (id) => (known.get(id) ?? notification) === notification,
        });
        const seen = await opening.then(({ text }) => text, ({ code }) => code);
        if (seen !== (expect.opened ? expect.text : expect.reason)) wrong.push(name);
      }
      return { count: signatures.length + envelopes.length, wrong };
    }, `${stack.app}securepush/securepush.js`, loadVectors('signatures').cases, loadVectors('e2e').cases);
    assert.deepEqual(results.wrong, []);
    assert.ok(results.count > 50);
  });

  await step('a message is answered in the page, with the number that the sender shows elsewhere', async () => {
    const actions = [{ Id: 'approve', Title: 'Approve' }, { Id: 'deny', Title: 'Deny' }];
    const id = await stack.ask({ Title: 'Log-in', Body: 'Is it you?', Actions: actions }, {
      answers: actions.map(({ Id }) => Id), challenge: '42',
    });
    await app.deliver(await stack.push(id));
    await app.untilShown((list) => list.some(({ title, body }) => title === 'Log-in' && body === 'Is it you?'));
    const page = await app.openPage({ hash: `#${id}` });
    const find = `#secret-${id}`;
    await page.until((where) => document.querySelector(`${where} .actions`), find);
    await page.evaluate((where) => document.querySelector(`${where} .actions button`).click(), find);
    for (const [number, outcome] of [['41', 'three tries'], ['42', 'Answered: Approve.']]) {
      await page.until((where) => document.querySelector(`${where} form input`), find);
      await page.evaluate((where, value) => {
        document.querySelector(`${where} form input`).value = value;
        document.querySelector(`${where} form button`).click();
      }, find, number);
      await page.until((where, words) => document.querySelector(`${where} .outcome`).textContent.includes(words), find, outcome);
    }
    const { Answer: answer } = JSON.parse(await stack.securepush('status', id, '--json'));
    assert.deepEqual([answer.Action, typeof answer.DeviceId], ['approve', 'string']);
    await app.closePage();
  });

  await step('a device that registers later shows the generic text, and then gets what is for it', async () => {
    const early = await stack.send('Before the second device.', '--e2e');
    const push = await stack.push(early);
    const second = await WebApp.start(stack);
    try {
      await second.openPage();
      await second.logIn();
      const shown = await second.untilShown((list) => list.length > 0);
      assert.deepEqual(shown.map(({ body, tag }) => [body, tag]), [
        ['You have a new message. Open the app to read it. (SP-KEY)', early],
      ]);
      await second.page.until(() => document.querySelectorAll('.entry').length > 0);
      await second.page.evaluate(() => document.querySelector('.entry .row').click());
      await second.page.until(() => document.querySelector('.entry .secret').textContent.endsWith('(SP-KEY)'));
      await second.page.until(() => document.getElementById('fact-channel').textContent.includes('listens to the emulator'));
      await second.closePage();
      await second.deliver(push);
      assert.equal((await second.notifications()).length, 1);
      const id = await stack.send('For both devices.', '--e2e');
      for (const device of [app, second]) await device.deliver(await stack.push(id));
      await second.untilShown((list) => has(list, 'For both devices.'));
      // The first device has its key in both envelopes.
      const texts = ['Before the second device.', 'For both devices.'];
      await app.untilShown((list) => texts.every((text) => has(list, text)));
      assert.equal((await stack.recipientKeys('alice')).Keys.length, 2);
      await second.openPage();
      await second.logOut();
      assert.equal((await stack.recipientKeys('alice')).Keys.length, 1);
    } finally {
      await second.close();
    }
  });

  await step('log-out removes the device and everything that is shown', async () => {
    await app.openPage();
    await app.logOut();
    assert.deepEqual((await app.notifications()).filter((shown) => shown.kind === 'secret'), []);
    const devices = await stack.json('/emulator/devices');
    assert.deepEqual(devices.flatMap((device) => (device.Platform === 'browser' ? device.Tags : [])), []);
    assert.deepEqual((await stack.recipientKeys('alice')).Keys, []);
    assert.equal(await app.publicKey(), undefined);
  });
});
