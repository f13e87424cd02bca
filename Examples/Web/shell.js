// The files of the app itself, kept so that it opens without a network. No message is ever among them.

const name = 'shell';
/** How long the network may take while there is a copy, in milliseconds. */
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

/** The newest version of a file, or the one that is kept if the network does not give one in time. */
export async function shellResponse(request) {
  const network = fetch(request);
  const answer = await Promise.race([
    network.catch(() => null), new Promise((resolve) => { setTimeout(resolve, patience, null); }),
  ]);
  if (answer && answer.status < 500) return answer;
  return await (await caches.open(name)).match(request, { ignoreSearch: true, ignoreVary: true }) ?? network;
}
