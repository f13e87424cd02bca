// The service worker of an app in TypeScript.
import { PushWorker } from 'securepush-web/worker';
import { client } from './app.js';

new PushWorker({ scope: self, client, page: './', onForeignPush: async () => {} }).attach();

// @ts-expect-error a worker needs a client
new PushWorker({ scope: self });
