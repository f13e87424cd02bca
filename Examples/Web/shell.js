// The files of the app itself, kept so that it opens without a network. No message is ever among them.

const name = 'shell';
/** How long the network may take for a page that is kept, in milliseconds. */
const patience = 3_000;

/** Whether this is the page, or a file of the app by its name. No answer of the server has such a name. */
export function isShell(url, scope) {
  const [address] = url.split(/[?#]/);
  return address === scope || (address.startsWith(scope) && /\.(css|html|js|png|svg|webmanifest)$/.test(address));
}

/**
 * Keeps the files that the page has loaded just now, in place of those that are kept: they belong together, and are
 * taken from the browser's own cache.
 */
export async function keepShell(scope) {
  const loaded = performance.getEntriesByType('resource').map((entry) => entry.name);
  const files = [...new Set([scope, ...loaded.filter((url) => isShell(url, scope))])];
  const cache = await caches.open(name);
  await cache.addAll(files.map((url) => new Request(url, { cache: 'force-cache' })));
  for (const { url } of await cache.keys()) if (!files.includes(url)) await cache.delete(url);
}

/** The windows whose page is a kept one. All of their files are, so that they are of one version. */
const opened = new Set();

/** The newest version of a file, or the one that is kept if the network has none, or does not give the page in time. */
export async function shellResponse({ request, clientId, resultingClientId }) {
  const kept = async () => (await caches.open(name)).match(request, { ignoreSearch: true, ignoreVary: true });
  if (opened.has(clientId)) return await kept() ?? fetch(request);
  const network = fetch(request);
  const answers = [network.catch(() => null)];
  if (request.mode === 'navigate') answers.push(new Promise((resolve) => { setTimeout(resolve, patience, null); }));
  const answer = await Promise.race(answers);
  if (answer && answer.status < 500) return answer;
  const copy = await kept();
  if (copy && resultingClientId) opened.add(resultingClientId);
  return copy ?? network;
}
