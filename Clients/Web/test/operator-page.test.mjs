import assert from 'node:assert/strict';
import test from 'node:test';
import { violations } from './support/axe.mjs';
import { look, looks, misfits } from './support/looks.mjs';
import { Browser } from './support/devtools.mjs';
import { calm, empty, failure, found, letters, life, OperatorServer, trouble } from './support/operator.mjs';

/** The operator's page in headless Chromium, with answers of each kind. */
test("the operator's page with answers of each kind", { timeout: 300_000 }, async (context) => {
  const server = await OperatorServer.start();
  context.after(() => server.stop());
  const browser = await Browser.start({ width: 1280, height: 900 });
  context.after(() => browser.close());
  const page = await browser.open('about:blank');
  const one = life();
  const step = (name, body) => context.test(name, async () => {
    page.log.length = 0;
    await body();
    // What the answers refuse is told by the browser, too.
    assert.deepEqual(page.log.filter((line) => !/status of (401|404|429|503)|net::ERR_EMPTY_RESPONSE/.test(line)), []);
  });
  const answers = {
    'GET overview': (asked) => calm(asked.query.get('Window')), 'GET dead-letters': letters, [`GET notifications/${one.Id}`]: one,
    'POST notifications/search': (asked) => (asked.body.Before ? { ...found(3, 50), Next: undefined } : found()),
  };
  const open = async (path, more = {}) => {
    server.answers = { ...answers, ...more };
    await page.navigate(server.url + path);
    await page.until(() => document.querySelector('main h1, #alert .banner') && !/Loading|Reading the/.test(document.querySelector('main').innerText));
  };
  const inTrouble = (change = () => {}) => ({
    'GET overview': (asked) => {
      const now = trouble(asked.query.get('Window'));
      change(now);
      return now;
    },
  });
  const now = () => page.evaluate(() => { document.dispatchEvent(new Event('visibilitychange')); });
  const text = (selector) => page.evaluate((wanted) => document.querySelector(wanted)?.textContent ?? '', selector);
  const press = async (key, { shift = false } = {}) => {
    const code = { Escape: 27, Tab: 9, Enter: 13, ' ': 32 }[key];
    for (const type of ['keyDown', 'keyUp']) {
      await page.send('Input.dispatchKeyEvent', {
        type, key, code: key, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0, text: type === 'keyDown' && key === 'Enter' ? '\r' : undefined,
      });
    }
  };

  await step('axe finds nothing, nothing is wider than the screen, and every target has 24 px', async () => {
    const states = {
      calm: [''], trouble: ['', inTrouble()], empty: ['', { 'GET overview': empty }], letters: ['dead-letters'],
      'no broker': ['dead-letters', { 'GET dead-letters': [503, { detail: 'The dead-letter queue cannot be read.' }] }],
      notification: [`notifications/${one.Id}`], 'unknown ID': ['notifications/x'], 'unknown page': ['nothing/here'], search: ['search'],
      'no log-in': ['', { all: [401, { detail: 'The password is wrong.' }] }],
    };
    const { light, dark, forced, '400 %': narrow } = looks;
    for (const [state, [path, more]] of Object.entries(states)) {
      await look(page, looks.light);
      await open(path, more);
      for (const [name, options] of Object.entries({ light, dark, forced, narrow })) {
        await look(page, options);
        const place = `${state}, ${name}`;
        const [excess, small] = await misfits(page, 'a:not(.skip), button, input');
        assert.equal(excess, 0, place);
        assert.deepEqual(small, [], place);
        // Where the state is simple, the rules do not depend on size and colours.
        if (name === 'light' || state === 'trouble' || (name === 'dark' && state === 'notification')) assert.deepEqual(await violations(page), [], place);
      }
    }
    await look(page, looks.light);
    await page.evaluate(() => document.querySelector('main').append(document.createElement('button')));
    assert.match((await violations(page)).join(), /button-name/, 'axe finds what is wrong');
  });

  await step('trouble is in the banner, the title and the icon, worst first, and is told once', async () => {
    await open('');
    assert.equal(await page.evaluate(() => document.title), 'Overview · SecurePush');
    assert.match(await text('#state'), /All is well/);
    server.answers = { ...answers, ...inTrouble() };
    await now();
    await page.until(() => document.title.startsWith('✕ 2 lanes refused'));
    assert.equal(await page.evaluate(() => document.getElementById('icon').getAttribute('href')), '/icon-bad.svg');
    assert.equal(await page.evaluate(() => document.querySelectorAll('#state li').length), 4);
    assert.match(await text('#news'), /^The hub refuses/);
    const changes = await page.evaluate(async () => {
      let count = 0;
      new MutationObserver((records) => { count += records.length; }).observe(document.getElementById('news'), { childList: true, subtree: true });
      const before = document.querySelector('main time').textContent;
      while (document.querySelector('main time').textContent === before) {
        document.dispatchEvent(new Event('visibilitychange'));
        await new Promise((done) => { setTimeout(done, 100); });
      }
      return count;
    });
    assert.equal(changes, 0);
    const rows = await page.evaluate(() => [...document.querySelectorAll('#genericTexts tbody tr')].map((row) => row.innerText));
    assert.match(rows[0], /^SP-KEY\s+encrypted for another key\s+310\s+1,204\s.*\sapple\s+swift\/0\.2\.0$/);
    assert.match(rows[2], /^no code\s+1\s+1\s.*\swindows\s+unknown$/);
    await page.evaluate(() => document.querySelector('#state a').click());
    await page.until(() => document.activeElement.id === 'lanesTitle');
  });

  await step('the focus stays at its failure; if that goes, the heading has it', async () => {
    let groups = trouble().Failures.Groups;
    await open('', inTrouble((state) => { state.Failures.Groups = groups; }));
    await page.evaluate(() => document.querySelectorAll('#failures .groups button')[1].focus());
    groups = [failure(5, 'HTTP 410: Gone', 9, ['browser']), ...groups];
    await now();
    await page.until(() => document.querySelectorAll('#failures .groups li').length === 3);
    assert.match(await page.evaluate(() => document.activeElement.textContent), /HTTP 413/);
    assert.match(await page.evaluate(() => document.querySelector('#failures .groups li:last-child').textContent), /HTTP 410/);
    groups = [groups[0]];
    await now();
    await page.until(() => document.querySelectorAll('#failures .groups li').length === 1);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'failuresTitle');
  });

  await step('one failure is one group with one button, and a further request begins where the one before ended', async () => {
    await open('', {
      ...inTrouble(), 'POST failures/resend': ({ body }) => (body.Before ? { Resent: 2, LettersRemoved: 2, HasMore: false } : { Expired: 7, HasMore: true, Next: 'the end' }),
    });
    assert.equal(await page.evaluate(() => document.querySelectorAll('#failures .groups li').length), 2);
    assert.equal(await page.evaluate(() => document.querySelectorAll('#failures .groups li:first-child .pill').length), 4);
    server.requests.length = 0;
    await page.evaluate(() => document.querySelector('#failures .groups button').focus());
    await press('Enter');
    await page.until(() => document.activeElement.id === 'dialogCancel');
    assert.deepEqual(await violations(page), []);
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent === '7 expired. There may be more: go on.');
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent === '2 sent again, 2 removed from the dead-letter queue.');
    assert.ok(await page.evaluate(() => document.getElementById('dialogConfirm').hidden));
    const bodies = server.requests.filter((asked) => asked.method === 'POST').map((asked) => asked.body);
    assert.deepEqual(bodies, [undefined, 'the end'].map((Before) => (
      { Reason: 'HTTP 400: The payload is not valid', Window: '1h', ...(Before && { Before }) })));
    await press('Escape');
    await page.until(() => document.activeElement.matches('#failures .groups button'));
  });

  await step('nothing is said to be all right that was not examined', async () => {
    const since = new Date(Date.now() - 60_000).toISOString();
    await open('', {
      ...inTrouble((state) => { state.Failures = { Window: '1h', Notifications: 0, Since: since, Next: 'older', Groups: [] }; }),
      'GET failures': ({ query }) => ({
        Window: '1h', Notifications: 4, Since: since, Groups: [failure(2, query.get('Before') === 'older' ? 'HTTP 413' : 'wrong', 4, ['windows'])],
      }),
    });
    assert.match(await text('#failures'), /None among the newest notifications, since/);
    await page.evaluate(() => {
      document.querySelector('#failures .more button').focus();
      document.activeElement.click();
    });
    await page.until(() => document.querySelector('#failures .groups')?.textContent.includes('HTTP 413'));
    assert.ok(!await page.evaluate(() => document.querySelector('#failures .more')));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'failuresTitle');
  });

  await step('every address is a page with a way back', async () => {
    for (const [path, title] of [['notifications/x', 'No such notification'], ['nothing/here', 'No such page']]) {
      await open(path);
      assert.equal(await text('h1'), title);
      assert.equal(await page.evaluate(() => document.title), `${title} · SecurePush`);
      await page.evaluate(() => document.querySelector('main a').click());
      await page.until(() => document.getElementById('funnel') && document.activeElement.matches('h1'));
      await page.evaluate(() => history.back());
      await page.until((wanted) => document.querySelector('h1').textContent === wanted, title);
    }
    await open('?Window=2h');
    assert.match(await text('main'), /no time span “2h”/);
  });

  await step('a password that has changed ends the asking', async () => {
    await open('', { all: [401, { detail: 'The password is wrong.' }] });
    await page.until(() => document.querySelector('#alert button')?.textContent === 'Reload');
    assert.match(await page.evaluate(() => document.title), /^✕ Log in again/);
    server.requests.length = 0;
    for (let round = 0; round < 3; round += 1) await now();
    await page.evaluate(() => new Promise((done) => { setTimeout(done, 200); }));
    assert.equal(server.requests.length, 0);
  });

  await step('an outage is told once, stays in view, and is over', async () => {
    await open('');
    await page.evaluate(() => {
      window.alerts = 0;
      new MutationObserver(() => { window.alerts += 1; })
        .observe(document.getElementById('alert'), { childList: true, subtree: true, characterData: true, attributes: true });
      scrollTo(0, document.body.scrollHeight);
    });
    server.answers = { all: [0, {}] };
    for (let round = 0; round < 3; round += 1) {
      const before = server.requests.length;
      await now();
      while (server.requests.length === before) await new Promise((done) => { setTimeout(done, 20); });
      await page.until(() => document.querySelector('#alert .banner'));
    }
    assert.equal(await page.evaluate(() => window.alerts), 1);
    assert.ok(await page.evaluate(() => document.querySelector('#alert .banner').getBoundingClientRect().top >= 0));
    server.answers = answers;
    await now();
    await page.until(() => !document.querySelector('#alert .banner'));
    assert.equal(await text('#news'), 'The page is up to date again.');
    server.answers = { all: [429, { detail: 'Too many.', RetryAfter: 60 }] };
    await now();
    await page.until(() => document.getElementById('alert').textContent.includes('asks again at'));
    server.requests.length = 0;
    await now();
    assert.equal(server.requests.length, 0);
  });

  await step('dead letters are selected one by one or all, and the page says if none is', async () => {
    await open('dead-letters', { 'POST dead-letters/replay': { Replayed: 7, Dropped: 0, Left: 0, NotFound: 0, HasMore: false } });
    assert.equal(await page.evaluate(() => document.querySelector('[aria-current=page]').textContent), 'Dead letters');
    const button = () => page.evaluate(() => document.querySelector('#letters .actions button').click());
    await button();
    assert.match(await text('#letters .told'), /Select at least one letter/);
    await page.evaluate(() => document.querySelector('thead input').click());
    assert.equal(await text('#letters .actions button'), 'Replay the 6 selected');
    await page.evaluate(() => document.querySelector('tbody input').click());
    assert.ok(await page.evaluate(() => document.querySelector('thead input').indeterminate));
    await button();
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent === '7 replayed.');
    assert.equal(server.requests.findLast((asked) => asked.method === 'POST').body.Ids.length, 5);
  });

  await step('a recipient is in no URL, and what was found is there after Back', async () => {
    await open('');
    await page.evaluate(() => {
      document.getElementById('term').value = 'alice';
      document.getElementById('search').requestSubmit();
    });
    await page.until(() => document.querySelectorAll('#found tbody tr').length === 50);
    assert.equal(await page.evaluate(() => location.pathname + location.search + document.title), '/searchSearch · SecurePush');
    await page.evaluate(() => [...document.querySelectorAll('#found button')].at(-1).click());
    await page.until(() => document.querySelectorAll('#found tbody tr').length === 53);
    await page.evaluate(() => document.querySelector('#found .id').click());
    await page.until(() => location.pathname.startsWith('/notifications/'));
    await page.evaluate(() => history.back());
    await page.until(() => document.querySelectorAll('#found tbody tr').length === 53);
    // The short form that the page itself shows.
    await page.evaluate(() => {
      document.getElementById('term').value = document.querySelector('#found .id').textContent;
      document.getElementById('search').requestSubmit();
    });
    await page.until(() => location.pathname.startsWith('/notifications/'));
    await page.evaluate(() => history.back());
    await page.until(() => location.pathname === '/search');
    await page.evaluate(() => document.querySelector('h1').focus());
    await press('Escape');
    await page.until(() => location.pathname === '/');
  });

  await step('pause, time span and exact times survive a reload', async () => {
    await open('');
    const click = (wanted) => page.evaluate((label) => (
      [...document.querySelectorAll('main button, main a')].find((element) => element.textContent.startsWith(label)).click()), wanted);
    for (const label of ['24 hours', 'Pause', 'Times in']) await click(label);
    await open('');
    assert.equal(await text('.windows [aria-current]'), '24 hours');
    assert.match(await text('.tools'), /paused.*Exact times in UTC.*Paused – go on/);
    assert.match(await text('main time'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$/);
    for (const label of ['1 hour', 'Paused', 'Exact']) await click(label);
    assert.doesNotMatch(await text('.tools'), /paused/i);
  });

  await step('a notification has its state in the title, and tells a change', async () => {
    let status = 'queued';
    await open(`notifications/${one.Id}`, { [`GET notifications/${one.Id}`]: () => ({ ...one, Status: status }) });
    assert.equal(await page.evaluate(() => document.title), `queued · …${one.Id.slice(-12)} · SecurePush`);
    status = 'read';
    await now();
    await page.until(() => document.title.startsWith('read'));
    assert.equal(await text('#news'), 'The notification is now read.');
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.timeline b')].slice(0, 3).map((element) => element.textContent)),
      ['accepted', 'published', 'sent']);
  });

  await step('the keyboard gets past the header, and to what scrolls', async () => {
    await look(page, [320]);
    await open('', inTrouble());
    await press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    assert.ok(await page.evaluate(() => document.querySelector('#lanes .scroll').tabIndex === 0));
    await look(page, [1600]);
    await page.until(() => document.querySelector('#lanes .scroll').tabIndex === -1);
  });
});
