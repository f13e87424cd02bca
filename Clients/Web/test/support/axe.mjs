import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = process.env.AXE ?? fileURLToPath(new URL('../../../../.build/axe/axe.min.js', import.meta.url));
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe-core finds in a page against WCAG 2.2, A and AA, and best practice: `rule: element`, nothing at best. */
export async function violations(page) {
  if (!existsSync(file)) throw new Error(`${file} is missing; run scripts/axe.sh first.`);
  if (!await page.evaluate(() => Boolean(window.axe))) await page.evaluate(`${readFileSync(file, 'utf8')};0`);
  return page.evaluate(async (runOnly) => (await window.axe.run(document, { runOnly, resultTypes: ['violations'] })).violations
    .flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')} ${node.any[0]?.message ?? ''}`)), rules);
}
