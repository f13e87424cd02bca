// The service worker: receives pushes, also when no page is open, and opens the app without a network.
import { client } from './client.js';
import { emulatorDevices } from './config.js';
import { PushWorker } from './securepush/securepush-worker.js';
import { isShell, shellResponse } from './shell.js';

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  if (method === 'GET' && isShell(url, self.registration.scope)) event.respondWith(shellResponse(event));
});

new PushWorker({ scope: self, client, acceptsPagePushes: emulatorDevices !== null }).attach();
