// Makes the pictures of the operator's page from a stack that is working: node test/operator-screenshots.mjs URL [FOLDER]
//
// URL is the page's address, as `scripts/stack.sh up` prints it; FOLDER is docs/images by default. The pictures show
// what the stack has done in the last half hour, so send to it for a while first, with faults switched on. Outcomes need
// HUB_TELEMETRY=true for the stack, and come first for what was sent first.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser } from './support/devtools.mjs';

const [address, folder = fileURLToPath(new URL('../../../docs/images', import.meta.url))] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const api = async (path) => (await fetch(new URL(path, address))).json();

/** The most eventful of the notifications that failed, or else of those that a user got. */
async function eventfulID() {
  const failed = (await api('/admin/api/failures')).Groups.flatMap((group) => group.Ids);
  const search = await fetch(new URL('/admin/api/notifications/search', address), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ Recipient: 'alice' }),
  });
  const found = (await search.json()).Notifications.map((item) => item.Id);
  const all = [];
  for (const id of [...failed, ...found]) all.push(await api(`/admin/api/notifications/${id}`));
  all.sort((one, other) => other.Events.length - one.Events.length);
  const seen = all.filter((life) => life.ReadAt && life.ShownAt);
  return (seen.find((life) => life.Deliveries.some((delivery) => delivery.Outcome)) ?? seen[0] ?? all[0]).Id;
}

const browser = await Browser.start({ width: 1440, height: 900 });
try {
  const page = await browser.open(address);
  const photograph = async (path, name, { width = 1440, scale = 1.25, dark = false } = {}) => {
    const set = (height) => page.send('Emulation.setDeviceMetricsOverride', {
      width, height, deviceScaleFactor: scale, mobile: width < 600,
    });
    await set(900);
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }],
    });
    await page.navigate(new URL(path, address).href);
    // The whole page, as far as a picture is useful.
    await set(Math.min(2400, await page.evaluate(() => document.documentElement.scrollHeight)));
    await new Promise((done) => setTimeout(done, 700));
    writeFileSync(join(folder, `${name}.png`), await page.screenshot());
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (overflow > 0) console.log(`${name}: ${overflow} px wider than the screen`);
  };
  await photograph('/', 'operator-page');
  await photograph('/', 'operator-page-dark', { dark: true });
  await photograph(`/notifications/${await eventfulID()}`, 'operator-page-notification', { width: 1100 });
  await photograph('/', 'operator-page-phone', { width: 360, scale: 2 });
  if (page.log.length > 0) console.log(page.log.join('\n'));
} finally {
  await browser.close();
}
