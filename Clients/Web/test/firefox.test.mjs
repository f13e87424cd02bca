import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Firefox } from './support/firefox.mjs';
import { PushService } from './support/push-service.mjs';
import { Stack } from './support/stack.mjs';

const run = promisify(execFile);
const script = (name) => fileURLToPath(new URL(`../../../scripts/${name}`, import.meta.url));

/**
 * The example in a real Firefox, against the services: it subscribes at a push service on loopback, the hub encrypts
 * and signs each push, Firefox decrypts it, and the worker fetches and shows the secret. SECUREPUSH_SCREENSHOT names a
 * file for a picture of the screen.
 */
test('the example in Firefox', { timeout: 300_000 }, async (context) => {
  const ends = [];
  context.after(async () => { for (const end of ends.reverse()) await end(); });
  const service = await PushService.start();
  ends.push(() => service.stop());
  const folder = mkdtempSync(join(tmpdir(), 'securepush-firefox-app.'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const firefox = await Firefox.serve(folder);
  ends.push(() => firefox.stop());
  // The browser starts while the services do.
  const [stack] = await Promise.all([
    Stack.start({
      STACK_RETRIEVAL_CORS_ORIGINS: firefox.origin, STACK_BROWSER_PUSH_URL: 'https://app.example.org/',
    }, (credentials) => {
      credentials.caFile = service.certificate;
      credentials.webPush.allowedHosts = [service.host];
    }).then((started) => { ends.push(() => started.stop()); return started; }),
    firefox.start(service.url),
  ]);
  await run(script('web-app.sh'), [folder, stack.retrieval]);
  const step = (name, body) => context.test(name, body);
  const shows = (text) => (shown) => shown.some(({ body }) => body === text);

  await step('the page subscribes with the key of the server, and registers', async () => {
    await firefox.openApp();
    await firefox.logIn('alice', stack.password);
    await firefox.until(() => (
      !['', 'The browser is asking its push service …'].includes(
        document.getElementById('app').contentDocument.getElementById('fact-channel').textContent)));
    assert.match(await firefox.text('fact-channel'), /^By the push service of this browser/);
    const [subscription] = [...service.subscriptions.values()];
    assert.equal(subscription.key.replace(/=+$/, ''), stack.secret('web-push-public-key'));
  });

  let id;
  await step('a push shows the secret, also when the page is closed', async () => {
    await firefox.closeApp();
    id = await stack.send('The code is 4711.');
    const shown = await firefox.untilReported(shows('The code is 4711.'));
    assert.deepEqual(shown.map(({ tag, kind }) => [tag, kind]), [[id, 'secret']]);
    const [{ code, ttl, urgency, bytes }] = service.pushes;
    assert.deepEqual([urgency, service.refusals], ['normal', []]);
    // The hub has kept it for a moment.
    assert.ok(ttl > 2_419_100 && ttl <= 2_419_200, `${ttl} s`);
    // The lengths of what is encrypted are few: 128, 512, … and 103 bytes around them.
    assert.ok([128, 512, 1_024, 2_048, 3_993].includes(bytes - 103), `${bytes} bytes`);
    assert.ok([null, 100].includes(code), `${code}`);
  });

  await step('an alert is urgent, and has the topic of its collapse key', async () => {
    await stack.send(
      'Collapsing.', '--presentation', 'alert', '--title', 'Mail', '--collapse-key', 'order-42', '--expires-in', '1h');
    await firefox.untilReported(shows('Collapsing.'));
    const { ttl, urgency, topic } = service.pushes.at(-1);
    assert.deepEqual([urgency, topic], ['high', 'O_ixV8Qjju_lrkpm7Kgca4h9Tc7bWN1n']);
    assert.ok(ttl > 3_500 && ttl <= 3_600, `${ttl} s`);
  });

  await step('what was revoked is replaced by a text, which goes by itself', async () => {
    await stack.securepush('revoke', id);
    const shown = await firefox.untilReported(shows('This message was withdrawn.'));
    assert.ok(!shows('The code is 4711.')(shown));
    assert.equal(shown.find(({ tag }) => tag === id).silent, true);
    await firefox.until(async (tag) => {
      const registration = await navigator.serviceWorker.getRegistration('/app/');
      return (await registration.getNotifications()).every((notification) => notification.tag !== tag);
    }, id);
  });

  await step('an expired log-in shows the prompt, and the log-in shows the secret', async () => {
    const token = await stack.securepush(
      'token', '--user', 'alice', '--signing-key-file', `${stack.folder}/secrets/token-signing-key.pem`,
      '--expires-at', '2026-01-01T00:00:00Z');
    await firefox.evaluate(async (text) => {
      const { credentials } = await import('/app/client.js');
      await credentials.logInWithToken('alice', text);
    }, token);
    await stack.send('Only for alice.');
    const prompted = await firefox.untilReported(shows('You have a new message. Log in to read it. (SP-401)'));
    assert.ok(!shows('Only for alice.')(prompted));
    await firefox.openApp();
    assert.equal(await firefox.text('log-in-reason'), 'A message is waiting. Log in to read it.');
    await firefox.logIn('alice', stack.password);
    await firefox.until(async () => {
      const registration = await navigator.serviceWorker.getRegistration('/app/');
      const shown = await registration.getNotifications();
      return shown.some(({ body }) => body === 'Only for alice.') && !shown.some(({ data }) => data.kind === 'prompt');
    });
    if (process.env.SECUREPUSH_SCREENSHOT) {
      await new Promise((resolve) => { setTimeout(resolve, 1_000); });
      await firefox.screenshot(process.env.SECUREPUSH_SCREENSHOT);
    }
  });

  await step('every push was accepted, and decrypted by the browser', async () => {
    await firefox.until((codes) => codes.length > 0, service.pushes.map(({ code }) => code));
    assert.deepEqual(service.refusals, []);
    assert.deepEqual(service.pushes.map(({ code }) => code), service.pushes.map(() => 100));
    assert.equal([...service.subscriptions.values()].filter(({ isOver }) => !isOver).length, 1);
  });
});
