// The service worker: receives pushes, also when no page is open.
import { client } from './client.js';
import { emulatorDevices } from './config.js';
import { PushWorker } from './securepush/securepush-worker.js';

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

new PushWorker({ scope: self, client, acceptsPagePushes: emulatorDevices !== null }).attach();
