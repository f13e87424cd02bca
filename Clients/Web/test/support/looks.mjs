/** How people look at a page: the width, and the media features. */
export const looks = {
  light: [1280], dark: [1280, { 'prefers-color-scheme': 'dark' }], forced: [1280, { 'forced-colors': 'active' }],
  phone: [390], '400 %': [320],
};

export async function look(page, [width, features = {}], height = 800) {
  await Promise.all([
    page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 }),
    page.send('Emulation.setEmulatedMedia', { features: Object.entries(features).map(([name, value]) => ({ name, value })) }),
  ]);
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); }));
}

/** By how much a page is wider than the screen, and the targets of these selectors that are smaller than 24 px. */
export const misfits = (page, targets) => page.evaluate((selectors) => [
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  [...document.querySelectorAll(selectors)].filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && (width < 24 || height < 24);
  }).map((element) => element.outerHTML),
], targets);
