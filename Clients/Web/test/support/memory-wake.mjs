// Handles a small push and then a large one: node memory-wake.mjs URL ID. Prints the process's peaks in KiB.
import { readFileSync } from 'node:fs';
import {
  FetchTransport, FixedCredentialsProvider, IncomingPush, makeConfiguration, MemoryClientStore, SecurePushClient,
} from '../../securepush.js';

const [retrievalURL, id] = process.argv.slice(2);
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

let length = 0;
const presenter = {
  showSecret: async ({ text }) => { length = text.length; }, showNotice: async () => {}, showPrompt: async () => {},
  remove: async () => {}, removePrompt: async () => {}, setBadge: async () => {}, displayedSecrets: async () => null,
};
const client = new SecurePushClient({
  configuration: makeConfiguration({ retrievalURL }), store: new MemoryClientStore(), transport: new FetchTransport(),
  credentials: new FixedCredentialsProvider('alice', { kind: 'bearer', token: 'token' }), presenter,
});
const handle = (secureId) => client.handle(IncomingPush.fromText(JSON.stringify({ secureId })));
await handle('small');
const before = peak();
await handle(id);
process.stdout.write(JSON.stringify({ length, before, after: peak() }));
