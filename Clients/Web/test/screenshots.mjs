// Makes the pictures of the documentation: node test/screenshots.mjs [FOLDER], by default docs/images.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stack } from './support/stack.mjs';
import { WebApp } from './support/app.mjs';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../docs/images', import.meta.url));
mkdirSync(folder, { recursive: true });

const stack = await Stack.start();
const app = await WebApp.start(stack);
const devices = [];

/** Photographs the page as a device of this kind shows it. */
async function photograph(page, name, { width, height, scale = 2, dark = false, mobile = width < 600 }) {
  await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile });
  await page.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }],
  });
  await new Promise((done) => setTimeout(done, 500));
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
}

try {
  const phone = { width: 390, height: 800 };
  const page = await app.openPage();
  await photograph(page, 'web-log-in', phone);
  await app.logIn();
  await page.until(() => document.getElementById('fact-channel').textContent.includes('emulator'));
  for (const text of ['Your table is booked for 19:30.', 'The code is 4711.']) {
    await app.duringWake(() => stack.send(text));
  }
  const last = await app.duringWake(() => stack.send('Your results are in: all clear.'));
  await page.until(() => document.querySelectorAll('.entry').length === 3);
  await app.untilShown((list) => list.length === 3);
  await page.until((id) => {
    const row = document.querySelector(`[aria-controls="secret-${id}"]`);
    if (row?.getAttribute('aria-expanded') === 'false') row.click();
    return document.getElementById(`secret-${id}`)?.textContent.startsWith('Your results');
  }, last);
  await photograph(page, 'web-inbox', phone);
  await photograph(page, 'web-inbox-dark', { ...phone, dark: true });
  await photograph(page, 'web-demo', { width: 1280, height: 760, scale: 1 });
  const question = {
    Title: 'Log-in in Lisbon', Body: 'Somebody logs in to your account with Firefox on Linux.\nIs it you?', Link: 'https://bank.example.org/log-ins',
    Level: 'time-sensitive', Actions: [{ Id: 'approve', Title: 'It is me' }, { Id: 'deny', Title: 'Not me' }],
  };
  const asked = await app.duringWake(() => stack.ask(question, { answers: ['approve', 'deny'], challenge: '42' }));
  await page.evaluate((id) => document.querySelector(`[aria-controls="secret-${id}"]`).click(), last);
  await page.until((id) => {
    const row = document.querySelector(`[aria-controls="secret-${id}"]`);
    if (row?.getAttribute('aria-expanded') === 'false') row.click();
    return Boolean(document.getElementById(`secret-${id}`)?.querySelector('.actions'));
  }, asked);
  await page.evaluate(() => document.querySelector('.actions button').click());
  await page.until(() => document.querySelector('.rich form input'));
  await photograph(page, 'web-answer', phone);
  await page.evaluate(() => document.querySelector('[data-view=devices]').click());
  await page.until(() => document.querySelectorAll('#device-list li').length > 0);
  await photograph(page, 'web-devices', phone);

  // The page of the hub, with the browser and three simulated devices of alice.
  const password = join(stack.folder, 'secrets/alice.password');
  for (const platform of ['apple', 'fcmv1', 'windows']) {
    devices.push(spawn(
      join(stack.bin, 'securepush'), ['device', '--user', 'alice', '--platform', platform, '--password-file', password],
      {
        env: { ...stack.environment, RETRIEVAL_URL: stack.retrieval, HUB_EMULATOR_URL: stack.emulator },
        stdio: 'ignore',
      }));
  }
  const hub = await app.browser.open(`${stack.emulator}/`);
  await hub.until(() => document.querySelectorAll('.device .dot.on').length >= 4);
  await fetch(`${stack.emulator}/emulator/messages`, { method: 'DELETE' });
  await stack.send('Dr Lee has a question for you.');
  await hub.until(() => (
    [...document.querySelectorAll('.device')].filter((device) => device.textContent.includes('Dr Lee')).length >= 4));
  await photograph(hub, 'web-demo-hub', { width: 1280, height: 860, scale: 1 });
} finally {
  // They wait for the hub to come back otherwise.
  for (const device of devices) device.kill();
  await app.close();
  await stack.stop();
}
