import test from 'node:test';
import { TransportError } from '../../lib/transport.js';
import { IncomingPush } from '../../lib/push.js';
import { SimulatedDevice } from '../simulation/device.mjs';
import { SimulatedServer } from '../simulation/server.mjs';

/** A device of a browser, as the app registers it. */
export const browser = {
  platform: 'browser', channel: { endpoint: 'https://push.example.com/1', p256dh: 'BA', auth: 'AA' },
};

/** The public VAPID key of the browser's subscriptions. */
export const serverKey = new Uint8Array(65).fill(4);

/** A subscription of the browser. */
export const subscription = (name) => ({
  endpoint: `https://push.example.com/${name}`,
  options: { userVisibleOnly: true, applicationServerKey: serverKey.buffer },
  getKey: () => new Uint8Array([1, 2]).buffer,
});

/**
 * Runs a test in simulated time.
 *
 * @param {string} name
 * @param {(device: SimulatedDevice) => Promise<void>} body
 */
export const simulated = (name, body, options = {}) => test(name, async () => {
  const device = new SimulatedDevice(options);
  await device.clock.run(async () => {
    await device.logIn();
    await body(device);
  });
});

/** Handles a push, or a withdrawal, of the server. */
export const push = (device, client, id, options = {}) => (
  client.handle(IncomingPush.fromText(device.push(id, options))));

/** The connection breaks: the server may have carried out the request. */
export const breaks = () => { throw new TransportError('unreachable'); };

/** The server carries out a request, and its answer is lost. */
export const losesAnswer = (device) => (request) => {
  device.server.respond(request);
  throw new TransportError('unreachable');
};

/** The user logs in, in this process. */
export const logIn = ({ credentials }) => credentials.logIn(SimulatedServer.user, SimulatedServer.password);
