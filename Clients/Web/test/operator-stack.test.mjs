import assert from 'node:assert/strict';
import test from 'node:test';
import { Browser } from './support/devtools.mjs';
import { Stack } from './support/stack.mjs';

const secret = 'a payload that no page shows';

/** The operator's page in headless Chromium against the services, with faults of the hub. */
test("the operator's page in Chromium", { timeout: 600_000 }, async (context) => {
  const stack = await Stack.start();
  context.after(() => stack.stop());
  const browser = await Browser.start({ width: 1280, height: 900 });
  context.after(() => browser.close());
  const fault = (body) => stack.json('/emulator/faults', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  await fault({ Platform: 'apple', Status: 400, Count: 1 });
  const failed = await stack.send(secret);
  const sent = await stack.send(secret);
  await stack.fetchAsAlice(sent);
  const page = await browser.open(stack.operatorPage);
  const text = (id) => page.evaluate((name) => document.getElementById(name).textContent, id);
  const step = (name, body) => context.test(name, body);

  await step('it shows real figures, and keeps to its policy', async () => {
    await page.until(() => document.getElementById('live-failures').textContent.includes('HTTP 400'));
    await page.until(() => document.querySelectorAll('#live-lanes tbody tr').length === 4);
    await page.until(() => document.querySelector('#live-queues tbody').textContent.includes('securepush.dispatch'));
    assert.match(await text('live-sources'), /Every source answers/);
    assert.match(await text('live-queues'), /Age of the oldest notification that is not final: (none|\d+ \w+)\./);
    assert.match(await text('live-funnel'), /Accepted/);
    assert.equal(await page.evaluate(() => document.querySelectorAll('#live-processes tbody tr').length), 3);
    assert.deepEqual(page.log, []);
    const refused = await page.evaluate(() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
      const element = document.createElement('script');
      element.textContent = '1';
      document.body.append(element);
    }));
    assert.match(refused, /^script-src/);
    page.log.length = 0;
  });

  await step('it keeps itself fresh without losing the focus', async () => {
    await page.evaluate(() => document.querySelector('#live-funnel .windows a').focus());
    const before = await text('live-funnel');
    await stack.send(secret);
    await page.until((old) => document.getElementById('live-funnel').textContent !== old, before);
    assert.ok(await page.evaluate(() => document.activeElement.matches('#live-funnel .windows a')));
    const time = await page.evaluate(() => {
      const element = document.querySelector('#live-time time');
      return { title: element.title, text: element.textContent };
    });
    assert.match(time.title, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.doesNotMatch(time.text, /UTC/);
  });

  await step('a further request begins where the one before ended', async () => {
    await page.evaluate(() => {
      const send = window.fetch;
      window.bodies = [];
      window.fetch = (url, options) => {
        if (url !== '/admin/api/failures/resend') return send(url, options);
        const isFirst = window.bodies.push(JSON.parse(options.body)) === 1;
        const answer = isFirst ? { Expired: 7, HasMore: true, Next: 'the end' } : { Resent: 2, HasMore: false };
        return Promise.resolve(new Response(JSON.stringify(answer)));
      };
      document.querySelector('#live-failures [data-action="failures/resend"]').click();
      document.getElementById('dialogConfirm').click();
    });
    await page.until(() => document.getElementById('dialogResult').textContent === '7 expired. There may be more: go on.');
    assert.equal(await page.evaluate(() => document.getElementById('dialogConfirm').textContent), 'Go on');
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent === '2 sent again.');
    assert.ok(await page.evaluate(() => document.getElementById('dialogConfirm').hidden));
    const bodies = await page.evaluate(() => window.bodies);
    assert.deepEqual(bodies.map((body) => body.Before), [undefined, 'the end']);
    assert.equal(bodies[1].Reason, bodies[0].Reason);
    // A new page has the browser's own function again.
    await page.navigate(stack.operatorPage);
    await page.until(() => document.querySelector('#live-failures [data-action="failures/resend"]'));
  });

  await step('a group of failures is sent again after a confirmation', async () => {
    await page.evaluate(() => document.querySelector('#live-failures [data-action="failures/resend"]').click());
    assert.ok(await page.evaluate(() => document.getElementById('dialog').open));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'dialogCancel');
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent.includes('1 sent again'));
    await page.evaluate(() => document.getElementById('dialogCancel').click());
    await page.until(() => document.getElementById('live-failures').textContent.includes('Nothing has failed'));
  });

  await step('one notification is a timeline', async () => {
    await page.navigate(`${stack.operatorPage}notifications/${sent}`);
    const events = await page.evaluate(() => (
      [...document.querySelectorAll('.timeline li b')].map((element) => element.textContent)));
    assert.equal(events[0], 'accepted');
    assert.ok(events.includes('sent') && events.includes('read'));
    const headings = await page.evaluate(() => [...document.querySelectorAll('h1, h2')].map((one) => one.textContent));
    assert.ok(headings.includes('Notification'));
    await page.navigate(`${stack.operatorPage}notifications/${failed}`);
    await page.until(() => !document.querySelector('[data-action$="/resend"]'));
  });

  await step('a recipient is found, and the name is in no URL', async () => {
    await page.evaluate(() => {
      document.getElementById('term').value = 'alice';
      document.getElementById('search').requestSubmit();
    });
    await page.until(() => document.querySelectorAll('#foundRows li').length === 3);
    assert.ok(!(await page.evaluate(() => location.href)).includes('alice'));
    assert.ok(await page.evaluate(() => document.activeElement.id === 'found'));
  });

  await step('no page is wider than a phone, and every control has a name', async () => {
    for (const width of [360, 1600]) {
      await page.send('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 });
      for (const path of ['', 'dead-letters', `notifications/${sent}`]) {
        await page.navigate(stack.operatorPage + path);
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(excess, 0, `${path} at ${width}`);
      }
    }
    await page.navigate(stack.operatorPage);
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, input')].filter((one) => (
      !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length)).length);
    assert.equal(nameless, 0);
    const tables = await page.evaluate(() => [...document.querySelectorAll('table')].every((one) => one.caption));
    assert.ok(tables);
  });

  await step('no page and no answer has a payload', async () => {
    for (const path of ['', 'dead-letters', `notifications/${sent}`, 'admin/api/overview', 'admin/api/failures',
      'admin/api/dead-letters', `admin/api/notifications/${sent}`]) {
      const response = await fetch(stack.operatorPage + path);
      assert.equal(response.status, 200, path);
      assert.ok(!(await response.text()).includes(secret), path);
    }
  });

  await step('when ingest is gone, it says so', async () => {
    await stack.stop();
    await page.until(() => !document.getElementById('connection').hidden);
    assert.match(await text('connection'), /not up to date: no answer from ingest since/);
  });
});
