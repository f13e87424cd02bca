// Makes the pictures of the hub emulator's page: node test/emulator-screenshots.mjs [FOLDER], by default docs/images.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser } from './support/devtools.mjs';
import { HubEmulator } from './support/emulator.mjs';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../docs/images', import.meta.url));
mkdirSync(folder, { recursive: true });

const emulator = await HubEmulator.start(); import {spawn} from 'node:child_process'; const px=spawn('node',['/tmp/load/proxy.mjs',emulator.url,'28455'],{stdio:'inherit'}); process.once('exit',()=>px.kill()); await new Promise(d=>setTimeout(d,500));
const browser = await Browser.start({ width: 1280, height: 900 });
const id = (number) => `019ab3c4-7d2e-7000-8f1${number}-2b9e4c6d8a0${number}`;

/** Photographs the page as a device of this kind shows it. */
async function photograph(page, name, { width, height, scale = 1, dark = false }) {
  await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: width < 600 });
  await page.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }],
  });
  await new Promise((done) => setTimeout(done, 600));
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
}

try {
  const page = await browser.open(`${process.env.PAGE_URL ?? emulator.url}/`);
  const apple = '00FC13ADFF785122B4AD28809A3420982341241421348097878E577C991DE8F0';
  const windows = 'https://wns2-am3p.notify.windows.com/?token=AwYAAAC8';
  await emulator.register('apple', apple, 'alice', { on: true });
  await emulator.register('windows', windows, 'alice', { on: true });
  await emulator.register('fcmv1', 'cX4bN2:APA91bF8kq3Yt', 'bob', { on: true });
  await emulator.register('browser', 'https://push.example.test/wp/gAAAAABl', 'carol', { on: true });
  await emulator.register('fcmv1', 'dR7mQ1:APA91bHs0vLz', 'dave');
  await fetch(`${emulator.url}/emulator/messages`, { method: 'DELETE' });
  await emulator.push(id(1), 'bob');
  await emulator.push(id(2), 'carol');
  await emulator.addFault({ Platform: 'fcmv1', Swallow: true, Rate: 1, Tag: 'username:dave' });
  await emulator.push(id(3), 'dave');
  await emulator.push(id(4), 'alice');
  await emulator.display(apple, id(4), 'Your results are in: all values normal.');
  await emulator.display(windows, id(4), 'Your results are in: all values normal.');
  await emulator.display('cX4bN2:APA91bF8kq3Yt', id(1), 'Transfer of 1,250.00 EUR to Hill & Sons was booked.');
  await emulator.display('https://push.example.test/wp/gAAAAABl', id(2), 'You have a new message', 'prompt');
  await page.until(() => document.querySelectorAll('.record').length >= 4
    && document.querySelectorAll('.note.prompt').length === 1);
  await photograph(page, 'hub-emulator', { width: 1280, height: 940 });
  await photograph(page, 'hub-emulator-dark', { width: 1280, height: 940, dark: true });
  await photograph(page, 'hub-emulator-phone', { width: 390, height: 800, scale: 2 });
} finally {
  await browser.close();
  await emulator.stop();
}
