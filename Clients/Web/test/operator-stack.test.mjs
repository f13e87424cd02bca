import assert from 'node:assert/strict';
import test from 'node:test';
import { violations } from './support/axe.mjs';
import { Browser } from './support/devtools.mjs';
import { Stack } from './support/stack.mjs';

const secret = 'a payload that no page shows';

/** The operator's page in headless Chromium against the services, with faults of the hub. */
test("the operator's page with the services", { timeout: 600_000 }, async (context) => {
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
    await page.until(() => document.getElementById('failures')?.textContent.includes('HTTP 400'));
    await page.until(() => document.querySelectorAll('#lanes tbody tr').length === 4);
    await page.until(() => document.querySelector('#queues tbody')?.textContent.includes('securepush.dispatch'));
    await page.until(() => document.querySelectorAll('#processes .pill.good').length === 5);
    assert.match(await text('state'), /1 notification failed/);
    assert.match(await page.evaluate(() => document.title), /^! .* · SecurePush$/);
    assert.match(await text('funnel'), /Accepted stored by ingest2100 %/);
    assert.match(await text('failures'), /1 HTTP 400.*apple/);
    assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /undefined|NaN|\[object/);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.log, []);
    const refused = await page.evaluate(() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
      const element = document.createElement('script');
      element.textContent = '1';
      document.body.append(element);
    }));
    assert.match(refused, /^script-src/);
  });

  await step('it keeps itself fresh, and the focus stays', async () => {
    await page.evaluate(() => document.querySelector('#funnel .windows a').focus());
    await stack.send(secret);
    await page.until(() => document.querySelector('#funnel li b').textContent === '3');
    assert.ok(await page.evaluate(() => document.activeElement.matches('#funnel .windows a')));
    // The first poll is older than the page, and the following ones are added to it.
    await page.until(() => document.querySelector('#latencies polyline'));
  });

  await step('a group of failures is sent again after a confirmation', async () => {
    await page.evaluate(() => document.querySelector('#failures .groups button').click());
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => document.getElementById('dialogResult').textContent.includes('1 sent again, 1 removed from the dead-letter queue'));
    await page.evaluate(() => document.getElementById('dialogCancel').click());
    await page.until(() => document.getElementById('failures').textContent.includes('Nothing has failed'));
  });

  await step('one notification is a timeline', async () => {
    await page.navigate(`${stack.operatorPage}notifications/${sent}`);
    await page.until(() => document.querySelectorAll('.timeline li').length > 2);
    const events = await page.evaluate(() => [...document.querySelectorAll('.timeline li b')].map((element) => element.textContent));
    assert.equal(events[0], 'accepted');
    assert.ok(events.includes('sent') && events.includes('read'), events.join());
    assert.match(await page.evaluate(() => document.title), /^read · …[0-9a-f]{12} · SecurePush$/);
    assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /undefined|NaN|\[object/);
    await page.navigate(`${stack.operatorPage}notifications/${failed}`);
    await page.until(() => document.querySelector('.timeline') && !document.querySelector('#facts button'));
  });

  await step('a recipient is found, and the name is in no URL', async () => {
    await page.evaluate(() => {
      document.getElementById('term').value = 'alice';
      document.getElementById('search').requestSubmit();
    });
    await page.until(() => document.querySelectorAll('#found tbody tr').length === 3);
    assert.ok(!(await page.evaluate(() => location.href)).includes('alice'));
  });

  await step('the dead letter of another failure is listed and replayed', async () => {
    await fault({ Platform: 'apple', Status: 400, Count: 1 });
    await stack.send(secret);
    await page.navigate(`${stack.operatorPage}dead-letters`);
    await page.until(() => {
      const isThere = document.querySelectorAll('#letters tbody tr').length === 1;
      if (!isThere) [...document.querySelectorAll('button')].find((button) => button.textContent === 'Read again')?.click();
      return isThere;
    });
    assert.match(await text('letters'), /alice/);
    await page.evaluate(() => document.querySelector('thead input').click());
    await page.evaluate(() => document.querySelector('#letters .actions button').click());
    await page.evaluate(() => document.getElementById('dialogConfirm').click());
    await page.until(() => /\d (replayed|left|dropped)/.test(document.getElementById('dialogResult').textContent));
  });

  await step('no page and no answer has a payload', async () => {
    for (const path of ['', 'dead-letters', 'search', `notifications/${sent}`, 'admin/api/overview', 'admin/api/failures',
      'admin/api/dead-letters', `admin/api/notifications/${sent}`]) {
      const response = await fetch(stack.operatorPage + path);
      assert.equal(response.status, 200, path);
      assert.ok(!(await response.text()).includes(secret), path);
    }
    const nothing = await fetch(`${stack.operatorPage}nothing/here`);
    assert.equal(nothing.status, 404);
    assert.match(await nothing.text(), /<main/);
  });

  await step('when the service is gone, it says so', async () => {
    // The page of the dead letters asks only when told to.
    await page.navigate(stack.operatorPage);
    await page.until(() => document.querySelector('#processes'));
    await stack.stop();
    await page.until(() => document.querySelector('#alert .banner'));
    assert.match(await text('alert'), /not up to date since/);
  });
});
