import assert from 'node:assert/strict';
import test from 'node:test';
import { violations } from './support/axe.mjs';
import { look, looks, misfits } from './support/looks.mjs';
import { Browser } from './support/devtools.mjs';
import { HubEmulator } from './support/emulator.mjs';

const ids = ['0190f0aa-0000-7000-8000-000000000001', '0190f0aa-0000-7000-8000-000000000002'];

/** The page of the hub emulator in headless Chromium. */
test('the page of the hub emulator in Chromium', { timeout: 600_000 }, async (context) => {
  const emulator = await HubEmulator.start();
  context.after(() => emulator.stop());
  const browser = await Browser.start({ width: 1280, height: 900 });
  context.after(() => browser.close());
  const page = await browser.open(`${emulator.url}/`);
  await page.until(() => document.getElementById('state').textContent === 'live');
  const step = (name, body) => context.test(name, body);
  const press = async (key) => {
    const code = { ArrowRight: 39, Enter: 13, Escape: 27, Tab: 9 }[key];
    for (const type of ['keyDown', 'keyUp']) {
      await page.send('Input.dispatchKeyEvent', {
        type, key, code: key, windowsVirtualKeyCode: code, text: type === 'keyDown' && key === 'Enter' ? '\r' : undefined,
      });
    }
  };
  const text = (selector) => page.evaluate((wanted) => document.querySelector(wanted)?.textContent ?? '', selector);
  const click = (selector) => page.evaluate((wanted) => { document.querySelector(wanted).click(); }, selector);
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  /** Replaces what the filter has. */
  const filter = (word) => page.evaluate((value) => {
    const field = document.getElementById('filter');
    field.value = value;
    field.dispatchEvent(new Event('input'));
  }, word);

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
    assert.equal(await page.evaluate(() => document.querySelector('.device.off b').textContent), 'bob');
    // A person unfolds it, and it stays so when the device changes.
    await page.evaluate(() => document.querySelector('.device.off summary').click());
    await emulator.display('fcm-bob', ids[0], 'Hello');
    await page.until(() => document.querySelector('.device.off .fold')?.open
      && document.querySelector('.device.off .text')?.textContent === 'Hello');
    const frames = await page.evaluate(() => [...document.querySelectorAll('.device .body')]
      .map((body) => body.className.split(' ')[1]).sort());
    assert.deepEqual(frames, ['android', 'browser', 'desktop', 'iphone']);
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
    await filter('');
    await page.until(() => document.querySelectorAll('.record').length > 1);
  });

  await step('200 newest of all', async () => {
    await Promise.all(Array.from({ length: 205 }, (_, index) => (
      emulator.send('apple', 'username:eve', JSON.stringify({ aps: {}, secureId: `load-${index}` })))));
    await page.until(() => document.getElementById('recordCount').textContent.startsWith('200 newest of '));
    await page.until(() => document.querySelectorAll('.record').length === 200);
    const [, total] = /of ([\d,]+)/.exec(await page.evaluate(() => document.getElementById('recordCount').textContent));
    assert.ok(Number(total.replace(',', '')) >= 207);
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

  await step('the page itself does not scroll on a desktop', async () => {
    // What is only for screen readers made it 40,000 px high.
    const [height, view] = await page.evaluate(() => [document.documentElement.scrollHeight, innerHeight]);
    assert.ok(height <= view, `${height} px of ${view}`);
  });

  await step('a card is one stop of the keyboard, and the lists can be skipped to', async () => {
    assert.equal(await page.evaluate(() => Math.max(...[...document.querySelectorAll('.record')].map((card) => (
      card.querySelectorAll('a, button, input, summary, [tabindex="0"]').length)))), 1);
    await page.evaluate(() => document.activeElement.blur());
    for (const name of ['records', 'devices']) {
      await page.evaluate((id) => document.querySelector(`.skip[href="#${id}"]`).focus(), `${name}Title`);
      await press('Enter');
      assert.equal(await focused(), `${name}Title`);
    }
    await press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement.matches('.device summary')));
  });

  await step('names beyond ASCII can be read and found', async () => {
    const tag = 'username:#d8#a3#d8#ad#d9#85#d8#af';
    await emulator.register('fcmv1', 'fcm-arabic', tag.slice(9), { on: true });
    await emulator.send('fcmv1', tag, JSON.stringify({ message: { data: { secureId: 'to-arabic' } } }));
    await emulator.send('apple', `username:##${'b5d5c1a2'.repeat(8)}`, JSON.stringify({ aps: {}, secureId: 'to-long' }));
    await filter('أحمد');
    await page.until(() => document.querySelectorAll('.device').length === 1 && document.querySelectorAll('.record').length < 3);
    assert.equal(await text('.record[data-id="to-arabic"] .tag'), 'username:أحمد');
    assert.deepEqual(await page.evaluate(() => {
      const name = document.querySelector('.device .name b');
      return [name.textContent, name.title.split(' ').at(-1), document.querySelector('.device').getAttribute('aria-label')];
    }), ['أحمد', tag, 'Device of أحمد, on']);
    await filter('to-long');
    await page.until(() => document.querySelector('.record .tag')?.textContent === 'username:hash b5d5c1a2…');
    await filter('');
  });

  await step('while it is paused, the filter works and what arrives waits', async () => {
    await click('#pause');
    assert.equal(await text('#pause'), 'Paused – go on');
    await emulator.send('apple', 'username:eve', JSON.stringify({ aps: {}, secureId: 'in-the-pause' }));
    await page.until(() => document.getElementById('recordCount').textContent.endsWith('paused, 1 request since'));
    await filter('in-the-pause');
    await page.until(() => document.querySelector('#records .empty')?.textContent === 'Nothing matches the filter.');
    await filter(ids[1]);
    await page.until(() => document.getElementById('recordCount').textContent.startsWith('1 notification ·'));
    await click('#pause');
    await filter('in-the-pause');
    await page.until(() => document.getElementById('recordCount').textContent === '1 notification');
    await filter('');
  });

  await step('repeated requests are folded, and all of them count', async () => {
    await Promise.all(Array.from({ length: 76 }, () => emulator.send('apple', 'username:eve', JSON.stringify({ aps: {}, secureId: 'often' }))));
    await page.until(() => /\+ 73 like it/.test(document.querySelector('.record[data-id="often"]')?.textContent));
    assert.equal(await page.evaluate(() => document.querySelectorAll('.record[data-id="often"] .send').length), 3);
    await click('.record[data-id="often"] summary');
    await page.until(() => document.querySelectorAll('.record[data-id="often"] dl').length === 3);
  });

  await step('a record that was cleared elsewhere is empty here', async () => {
    // What follows looks at all of the page again and again: with few cards that takes seconds, with 200 minutes.
    await fetch(`${emulator.url}/emulator/messages`, { method: 'DELETE' });
    await page.until(() => document.querySelector('#records .empty')?.textContent.startsWith('Nothing yet'));
    for (const id of ids) await emulator.push(id, 'alice');
    await emulator.send('fcmv1', 'username:#d8#a3#d8#ad#d9#85#d8#af', JSON.stringify({ message: { data: { secureId: 'to-arabic' } } }));
    await page.until(() => document.querySelectorAll('.record').length === 3);
    await click('.record summary');
    await page.until(() => document.querySelector('.record dl'));
  });

  await step('a device without a registration says why it has no name, and those that are gone are one line', async () => {
    await emulator.switchOn('handle-of-nobody');
    await page.until(() => [...document.querySelectorAll('.device')].some((card) => /It has no registration/.test(card.textContent)));
    for (const stream of emulator.streams) stream.abort();
    await page.until(() => document.querySelector('.gone summary')?.textContent === '1 device that is off and without a registration');
  });

  await step('a fault of the form is refused in the words of the form', async () => {
    await page.evaluate(() => document.getElementById('faultsButton').focus());
    await press('Enter');
    await page.until(() => document.getElementById('dialog').open);
    const set = (name, value) => page.evaluate((field, wanted) => {
      const element = document.getElementById('faultForm').elements[field];
      element.value = wanted;
      element.dispatchEvent(new Event('change', { bubbles: true }));
    }, name, value);
    const submit = () => page.evaluate(() => document.getElementById('faultForm').requestSubmit());
    // To delay by nothing: the browser says which field is missing.
    await set('Effect', 'delay');
    await submit();
    assert.deepEqual(await page.evaluate(() => [document.activeElement.name, document.activeElement.validity.valueMissing]), ['LatencyMs', true]);
    await set('Effect', 'status');
    await set('For', 'soon');
    await submit();
    await page.until(() => document.getElementById('faultProblem').textContent.startsWith('✕ Off again after: '));
    assert.deepEqual(await page.evaluate(() => [document.activeElement.name, document.activeElement.getAttribute('aria-invalid')]), ['For', 'true']);
    assert.deepEqual(await violations(page), []);
    await press('Escape');
    await page.until(() => document.activeElement.id === 'faultsButton');
    await press('Enter');
    await page.until(() => document.getElementById('dialog').open);
    assert.deepEqual(await page.evaluate(() => [document.getElementById('faultProblem').textContent, document.querySelectorAll('[aria-invalid]').length]), ['', 0]);
    await set('For', '');
    await set('Platform', 'adm');
    await submit();
    await page.until(() => document.querySelector('.chip') && !document.getElementById('dialog').open);
    await page.evaluate(() => document.querySelector('.chip button').focus());
    await press('Enter');
    await page.until(() => !document.querySelector('.chip'));
  });

  await step('axe finds nothing, nothing is wider than the screen, and every target has 24 px', async () => {
    await emulator.addFault({ Platform: 'adm', Status: 503 });
    await page.until(() => document.querySelector('.chip'));
    const state = async (name) => {
      if (name === 'only trouble, nothing found') {
        await click('#warned');
        await filter('no such word');
        await page.until(() => document.querySelector('#records .empty'));
      }
      if (name === 'question') await click('#clear');
      if (name === 'fault') await click('#faultsButton');
    };
    const leave = async () => {
      await page.evaluate(() => { for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close(); });
      if (await page.evaluate(() => document.getElementById('warned').getAttribute('aria-pressed') === 'true')) await click('#warned');
      await filter('');
      await page.until(() => document.querySelectorAll('.record').length === 3);
    };
    for (const name of ['filled', 'only trouble, nothing found', 'question', 'fault']) {
      await look(page, looks.light, 900);
      await state(name);
      for (const [lookName, options] of Object.entries(looks)) {
        await look(page, options, 900);
        const place = `${name}, ${lookName}`;
        const [excess, small] = await misfits(page, 'button, input, select, summary');
        assert.equal(excess, 0, place);
        assert.deepEqual(small, [], place);
        assert.deepEqual(await violations(page), [], place);
      }
      await look(page, looks.light, 900);
      await leave();
    }
    await page.evaluate(() => document.querySelector('main').append(document.createElement('button')));
    assert.match((await violations(page)).join(), /button-name/, 'axe finds what is wrong');
    await page.evaluate(() => document.querySelector('main > button').remove());
  });

  await step('what fails is told, where a person looks', async () => {
    await page.send('Network.enable');
    await page.send('Network.emulateNetworkConditions', { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
    await click('#keyButton');
    await page.until(() => document.querySelector('body > .problem').textContent === '✕ The key is not shown: the emulator does not answer.');
    await click('#clear');
    await click('#confirmClear');
    await page.until(() => document.querySelector('#confirm .problem').textContent === '✕ The record was not cleared: the emulator does not answer.');
    assert.deepEqual(await violations(page), []);
    await page.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await press('Escape');
    await page.until(() => !document.getElementById('confirm').open);
    page.log.splice(0, page.log.length, ...page.log.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED')));
  });

  await step('clearing asks first, and empties the lists', async () => {
    await page.evaluate(() => document.getElementById('clear').focus());
    await press('Enter');
    await page.until(() => document.activeElement.id === 'confirmCancel');
    assert.ok(await page.evaluate(() => document.querySelectorAll('.record').length > 0));
    await press('Tab');
    await press('Enter');
    await page.until(() => document.querySelector('#records .empty') && !document.getElementById('confirm').open);
    await page.until(() => document.activeElement.id === 'clear');
  });

  await step('nothing broke the policy or threw', () => {
    assert.deepEqual(page.log.filter((line) => (
      // The emulator refuses a fault of the form.
      /exception|error:|Content Security/.test(line) && !/favicon|status of 422/.test(line))), []);
  });
});
