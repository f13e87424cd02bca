import assert from 'node:assert/strict';
import test from 'node:test';
import { Browser } from './support/devtools.mjs';
import { HubEmulator } from './support/emulator.mjs';

/** The page of the hub emulator while much arrives. */
test('the page of the hub emulator under load', { timeout: 400_000 }, async (context) => {
  const emulator = await HubEmulator.start();
  context.after(() => emulator.stop());
  const browser = await Browser.start({ width: 1280, height: 900 });
  context.after(() => browser.close());
  const step = (name, body) => context.test(name, body);
  const rest = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
  const users = ['alice', 'bob'];
  const platforms = ['apple', 'fcmv1', 'windows', 'browser'];
  for (const user of users) for (const platform of platforms) await emulator.register(platform, `https://${platform}.example.test/${user}`, user, { on: true });

  let number = 0;
  /** One of the four requests of a notification. */
  const request = () => {
    const platform = platforms[number % 4];
    const id = `0190f0aa-0000-7000-8000-${String(Math.floor(number / 4)).padStart(12, '0')}`;
    const tags = `username:${users[Math.floor(number / 4) % 2]}`;
    number += 1;
    const headers = { apple: { 'apns-push-type': 'background', 'apns-priority': '5' }, windows: { 'X-WNS-Type': 'wns/raw' } }[platform];
    const body = { apple: { aps: { 'content-available': 1 }, secureId: id }, fcmv1: { message: { data: { secureId: id }, android: { priority: 'high' } } } };
    return emulator.send(platform, tags, platform === 'windows' ? id : JSON.stringify(body[platform] ?? { secureId: id }), headers);
  };
  const burst = async (size) => {
    for (let sent = 0; sent < size; sent += 100) await Promise.all(Array.from({ length: Math.min(100, size - sent) }, request));
  };

  await burst(40);
  const page = await browser.open('about:blank');
  await page.send('Performance.enable', { timeDomain: 'threadTicks' });
  // What a screen reader is told, and when, in seconds. News that the page puts off for long waits for the test instead.
  await page.send('Page.addScriptToEvaluateOnNewDocument', {
    source: `addEventListener('DOMContentLoaded', () => {
      window.told = [];
      const announcer = document.getElementById('announcer');
      new MutationObserver(() => told.push([performance.now() / 1000, announcer.textContent])).observe(announcer, { childList: true });
    });
    window.speeches = [];
    const real = setTimeout;
    window.setTimeout = (work, after, ...more) => {
      if (work.name !== 'speak') return real(work, after, ...more);
      speeches.push({ due: (performance.now() + after) / 1000, speak: work });
      return after > 5000 ? -1 : real(work, after);
    };`,
  });
  await page.navigate(`${emulator.url}/`);
  await page.until(() => document.querySelectorAll('.record').length === 18);

  await step('what is there already is not told, and what arrives is', async () => {
    assert.deepEqual(await page.evaluate(() => [window.told, window.speeches]), [[], []]);
    // An empty record goes on counting where it was.
    await fetch(`${emulator.url}/emulator/messages`, { method: 'DELETE' });
    await page.until(() => document.querySelector('#records .empty'));
    await emulator.send('apple', 'username:nobody', JSON.stringify({ secureId: 'told' }));
    await emulator.display('https://apple.example.test/alice', 'told', 'A text');
    await page.until(() => window.told.length === 1);
    assert.equal((await page.evaluate(() => window.told))[0][1], '1 new request, 1 with trouble; 1 text shown by devices.');
  });

  // The share of a core is printed and not compared: a machine that is shared says little about it.
  await step('100 requests a second are drawn now and then, and all in the end', async () => {
    await burst(800);
    await page.until(() => document.querySelectorAll('.record').length === 200);
    const metrics = async () => Object.fromEntries((await page.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
    await page.evaluate(() => {
      window.drawn = 0;
      new MutationObserver(() => { window.drawn += 1; }).observe(document.getElementById('records'), { childList: true });
    });
    const [begin, before] = [Date.now(), await metrics()];
    const all = [];
    for (let sent = 0; Date.now() - begin < 8_000; await rest(5)) {
      for (; sent < (Date.now() - begin) / 10; sent += 1) all.push(request());
    }
    await Promise.all(all);
    const [seconds, after] = [(Date.now() - begin) / 1000, await metrics()];
    const share = (after.TaskDuration - before.TaskDuration) / seconds;
    const drawn = await page.evaluate(() => window.drawn);
    context.diagnostic(`${(all.length / seconds).toFixed(0)} requests a second: ${share.toFixed(3)} of a core, ${drawn} drawings in ${seconds.toFixed(0)} s`);
    assert.ok(drawn > 0 && drawn <= 4 * seconds, `${drawn} drawings in ${seconds} s`);
    // Nothing is left out in the end.
    const last = Math.floor((number - 1) / 4);
    await page.until((id) => document.querySelector(`.record[data-id$="${id}"]`), String(last).padStart(12, '0'));
  });

  await step('news has at least 30 s between', async () => {
    for (const round of [1, 2]) {
      await burst(8);
      await page.until((count) => window.speeches.length > count, round);
      const [last, due] = await page.evaluate((index) => [window.told[index - 1][0], window.speeches[index].due], round);
      assert.ok(due - last >= 29.9, `${due - last} s`);
      await page.evaluate((index) => window.speeches[index].speak(), round);
      await page.until((count) => window.told.length > count, round);
      assert.match(await page.evaluate((index) => window.told[index][1], round), /^[\d,]+ new requests\.$/);
    }
  });

  await step('2,000 requests are loaded in short tasks, and filtered', async () => {
    await burst(2000);
    const other = await browser.open('about:blank');
    await other.send('Page.addScriptToEvaluateOnNewDocument', {
      // The emulator's answer is late: nothing is said to be missing before.
      source: `const real = fetch; window.fetch = async (...all) => {
        if (String(all[0]).startsWith('emulator/messages')) await new Promise((done) => { window.answer = done; });
        return real(...all);
      };`,
    });
    await other.navigate(`${emulator.url}/`);
    await other.until(() => window.answer && document.querySelector('#records .empty')?.textContent === 'Loading …');
    await other.evaluate(() => {
      window.most = 0;
      new MutationObserver((changes) => {
        window.most = Math.max(window.most, changes.reduce((sum, { addedNodes }) => sum + addedNodes.length, 0));
      }).observe(document.getElementById('records'), { childList: true });
      window.answer();
    });
    await other.until(() => document.querySelectorAll('.record').length === 200);
    const most = await other.evaluate(() => window.most);
    assert.ok(most > 0 && most <= 30, `${most} cards at once`);
    assert.match(await other.evaluate(() => document.getElementById('recordCount').textContent), /^200 newest of 50\d\+ notifications$/);
    // What no person has opened has no list of headers.
    assert.equal(await other.evaluate(() => document.querySelectorAll('.record dl').length), 0);
    await other.evaluate((id) => {
      const field = document.getElementById('filter');
      field.value = id;
      field.dispatchEvent(new Event('input'));
    }, `0190f0aa-0000-7000-8000-${String(Math.floor((number - 1) / 4)).padStart(12, '0')}`);
    await other.until(() => document.getElementById('recordCount').textContent === '1 notification');
  });

  await step('nothing broke the policy or threw', () => {
    assert.deepEqual(page.log.filter((line) => /exception|error:|Content Security/.test(line)), []);
  });
});
