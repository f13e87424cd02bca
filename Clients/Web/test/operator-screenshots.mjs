// Makes the pictures of the operator's page from the answers of its test: node test/operator-screenshots.mjs [FOLDER]
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser } from './support/devtools.mjs';
import { life, OperatorServer, trouble } from './support/operator.mjs';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../docs/images', import.meta.url));
const one = life();
const server = await OperatorServer.start();
server.answers = { 'GET overview': (asked) => trouble(asked.query.get('Window')), [`GET notifications/${one.Id}`]: one };
const browser = await Browser.start({ width: 1440, height: 900 });
try {
  const page = await browser.open('about:blank');
  const photograph = async (path, name, { width = 1440, scale = 1.25, dark = false } = {}) => {
    const set = (height) => page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: width < 600 });
    await set(900);
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    await page.navigate(server.url + path);
    await page.until(() => document.querySelector('main .card'));
    // The whole page, as far as a picture is useful.
    await set(Math.min(2400, await page.evaluate(() => document.documentElement.scrollHeight)));
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 200)); }));
    writeFileSync(join(folder, `${name}.png`), await page.screenshot());
  };
  await photograph('', 'operator-page');
  await photograph('', 'operator-page-dark', { dark: true });
  await photograph(`notifications/${one.Id}`, 'operator-page-notification', { width: 1100 });
  await photograph('', 'operator-page-phone', { width: 360, scale: 2 });
} finally {
  await browser.close();
  await server.stop();
}
