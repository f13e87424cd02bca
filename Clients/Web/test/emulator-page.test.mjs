import assert from 'node:assert/strict';
import test from 'node:test';
import { Browser } from './support/devtools.mjs';
import { HubEmulator } from './support/emulator.mjs';

const ids = ['0190f0aa-0000-7000-8000-000000000001', '0190f0aa-0000-7000-8000-000000000002'];

/** The page of the hub emulator in headless Chromium. */
test('the page of the hub emulator in Chromium', { timeout: 300_000 }, async (context) => {
  const emulator = await HubEmulator.start();
  context.after(() => emulator.stop());
  const browser = await Browser.start({ width: 1280, height: 900 });
  context.after(() => browser.close());
  const page = await browser.open(`${emulator.url}/`);
  await page.until(() => document.getElementById('state').textContent === 'live');
  const step = (name, body) => context.test(name, body);
  const press = async (key, code = key) => {
    for (const type of ['keyDown', 'keyUp']) await page.send('Input.dispatchKeyEvent', { type, key, code });
  };

  await step('an empty page says what will appear', async () => {
    await page.until(() => document.querySelector('#records .empty')?.textContent.startsWith('Nothing yet'));
    await page.until(() => document.querySelector('#devices .empty')?.textContent.startsWith('No devices yet'));
  });

  await step('one notification is one card, with a row for each platform', async () => {
    await emulator.register('apple', 'AB12', 'alice', { on: true });
    await emulator.push(ids[0], 'alice');
    await page.until((id) => document.querySelectorAll(`.record[data-id="${id}"] .send`).length === 4, ids[0]);
    assert.equal(await page.evaluate((id) => document.querySelectorAll(`.record[data-id="${id}"]`).length, ids[0]), 1);
    const platforms = await page.evaluate((id) => (
      [...document.querySelectorAll(`.record[data-id="${id}"] .pill.platform`)].map((pill) => pill.textContent)), ids[0]);
    assert.deepEqual(platforms, ['apple', 'fcmv1', 'windows', 'browser']);
  });

  await step('a withdrawal joins the card of its notification', async () => {
    await emulator.push(ids[0], 'alice', { withdraw: true });
    await page.until((id) => document.querySelectorAll(`.record[data-id="${id}"] .send`).length === 8, ids[0]);
    assert.match(await page.evaluate((id) => document.querySelector(`.record[data-id="${id}"]`).textContent, ids[0]),
      /withdrawal/);
  });

  await step('an unfolded part and the focus stay while more arrives', async () => {
    await page.evaluate((id) => {
      const summary = document.querySelector(`.record[data-id="${id}"] summary`);
      summary.click();
      summary.focus();
    }, ids[0]);
    await emulator.push(ids[1], 'alice');
    await emulator.push(ids[0], 'alice');
    await page.until((id) => document.querySelectorAll(`.record[data-id="${id}"] .send`).length === 12, ids[0]);
    assert.deepEqual(await page.evaluate((id) => {
      const details = document.querySelector(`.record[data-id="${id}"] details`);
      return [details.open, document.activeElement === details.firstElementChild];
    }, ids[0]), [true, true]);
  });

  await step('devices have the frame of their platform, and are folded while they are off', async () => {
    await emulator.register('fcmv1', 'fcm-bob', 'bob');
    await emulator.register('windows', 'https://wns.example.test/?token=1', 'carol', { on: true });
    await emulator.register('browser', 'https://push.example.test/1', 'dave', { on: true });
    await page.until(() => document.querySelectorAll('.device').length === 4);
    await page.until(() => document.querySelectorAll('.device .fold[open]').length === 3);
    const frames = await page.evaluate(() => [...document.querySelectorAll('.device .body')]
      .map((body) => body.className.split(' ')[1]).sort());
    assert.deepEqual(frames, ['android', 'browser', 'desktop', 'iphone']);
    assert.equal(await page.evaluate(() => document.querySelector('.device.off b').textContent), 'bob');
    // A person unfolds it, and it stays so when the device changes.
    await page.evaluate(() => document.querySelector('.device.off summary').click());
    await emulator.display('fcm-bob', ids[0], 'Hello');
    await page.until(() => document.querySelector('.device.off .fold')?.open
      && document.querySelector('.device.off .text')?.textContent === 'Hello');
  });

  await step('texts from outside are texts', async () => {
    await emulator.display('AB12', ids[1], '<img src=x onerror=alert(1)><script>1</script>');
    await page.until(() => [...document.querySelectorAll('.text')].some((text) => text.textContent.startsWith('<img')));
    assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script').length), 0);
  });

  await step('the connection string hides its key until a person asks for it', async () => {
    await page.until(() => !document.getElementById('connection').hidden);
    const shown = () => page.evaluate(() => document.getElementById('connectionString').textContent);
    assert.ok(!(await page.evaluate(() => document.documentElement.outerHTML)).includes(emulator.key));
    assert.match(await shown(), /SharedAccessKey=•+$/);
    assert.match(await page.evaluate(() => document.getElementById('hubNames').textContent), /securepush/);
    await page.evaluate(() => document.getElementById('keyButton').click());
    await page.until((text) => document.getElementById('connectionString').textContent === text, emulator.connectionString);
    assert.equal(await page.evaluate(() => document.getElementById('keyButton').getAttribute('aria-pressed')), 'true');
    await page.evaluate(() => document.getElementById('keyButton').click());
    assert.match(await shown(), /•+$/);
  });

  await step('the copy button copies the whole string', async () => {
    await browser.send('Browser.grantPermissions', {
      permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'], origin: emulator.url,
    });
    await page.send('Page.bringToFront');
    await page.evaluate(() => document.getElementById('copyButton').click());
    await page.until(() => /^(Copied|Selected)/.test(document.getElementById('connectionTold').textContent));
    const told = await page.evaluate(() => document.getElementById('connectionTold').textContent);
    if (told.startsWith('Copied')) {
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), emulator.connectionString);
    } else assert.equal(await page.evaluate(() => getSelection().toString()), emulator.connectionString);
  });

  await step('a page of another origin gets neither the key nor an answer', async () => {
    const foreign = await browser.open('data:text/html,<title>x</title>');
    const answers = await foreign.evaluate(async (url) => Promise.all(
      [['GET', ''], ['POST', '/key']].map(([method, path]) => fetch(`${url}/emulator/connection${path}`, { method })
        .then((response) => response.text(), () => 'refused'))), emulator.url);
    assert.deepEqual(answers, ['refused', 'refused']);
    // A page in the background draws nothing.
    await browser.send('Target.closeTarget', { targetId: foreign.targetId });
    await page.send('Page.bringToFront');
  });

  await step('the filter, by its key, and trouble only', async () => {
    await page.evaluate(() => document.activeElement.blur());
    await page.send('Input.dispatchKeyEvent', { type: 'keyDown', key: '/', code: 'Slash', text: '/' });
    assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
    await page.send('Input.insertText', { text: ids[1] });
    await page.until(() => document.querySelectorAll('.record').length === 1);
    await page.evaluate(() => {
      const filter = document.getElementById('filter');
      filter.value = '';
      filter.dispatchEvent(new Event('input'));
    });
    await page.until(() => document.querySelectorAll('.record').length > 1);
  });

  await step('200 newest of all', async () => {
    await Promise.all(Array.from({ length: 205 }, (_, index) => (
      emulator.send('apple', 'username:eve', JSON.stringify({ aps: {}, secureId: `load-${index}` })))));
    await page.until(() => document.getElementById('recordCount').textContent.startsWith('200 newest of '));
    assert.equal(await page.evaluate(() => document.querySelectorAll('.record').length), 200);
    const [, total] = /of ([\d,]+)/.exec(await page.evaluate(() => document.getElementById('recordCount').textContent));
    assert.ok(Number(total.replace(',', '')) >= 207);
  });

  await step('a screen reader hears of news at most every five seconds', async () => {
    assert.equal(await page.evaluate(() => document.getElementById('announcer').getAttribute('aria-live')), 'polite');
    const changes = await page.evaluate(() => new Promise((resolve) => {
      let count = 0;
      const observer = new MutationObserver(() => { count += 1; });
      observer.observe(document.getElementById('announcer'), { childList: true, subtree: true });
      setTimeout(() => { observer.disconnect(); resolve(count); }, 6_000);
    }));
    assert.ok(changes <= 2, `${changes} announcements in 6 s`);
    await page.until(() => /new entr/.test(document.getElementById('announcer').textContent));
  });

  await step('on a phone the lists are tabs, with arrow keys', async () => {
    await page.send('Emulation.setDeviceMetricsOverride', {
      width: 390, height: 800, deviceScaleFactor: 1, mobile: true,
    });
    await page.until(() => document.getElementById('devicesPanel').hidden);
    assert.equal(await page.evaluate(() => getComputedStyle(document.getElementById('tabs')).display), 'flex');
    await page.evaluate(() => document.getElementById('recordsTab').focus());
    await press('ArrowRight');
    await page.until(() => document.getElementById('recordsPanel').hidden);
    assert.deepEqual(await page.evaluate(() => [
      document.activeElement.id, document.getElementById('devicesTab').getAttribute('aria-selected'),
      document.getElementById('devicesPanel').getAttribute('role'), document.getElementById('recordsTab').tabIndex,
    ]), ['devicesTab', 'true', 'tabpanel', -1]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await page.send('Emulation.clearDeviceMetricsOverride');
    await page.until(() => !document.getElementById('recordsPanel').hidden
      && !document.getElementById('devicesPanel').hidden);
  });

  await step('every control has a name, and the focus can be seen', async () => {
    const { nodes } = await page.send('Accessibility.getFullAXTree');
    const nameless = nodes.filter((node) => !node.ignored
      && ['button', 'tab', 'textbox', 'searchbox', 'combobox', 'spinbutton', 'region'].includes(node.role?.value)
      && !node.name?.value);
    assert.deepEqual(nameless.map((node) => node.role.value), []);
    await page.evaluate(() => document.getElementById('filter').focus());
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
  });

  await step('clearing empties the lists', async () => {
    await page.evaluate(() => document.getElementById('clear').click());
    await page.until(() => document.querySelector('#records .empty'));
  });

  await step('nothing broke the policy or threw', () => {
    assert.deepEqual(page.log.filter((line) => (
      /exception|error:|Content Security/.test(line) && !line.includes('favicon'))), []);
  });
});
