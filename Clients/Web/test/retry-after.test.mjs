import assert from 'node:assert/strict';
import test from 'node:test';
import { retryAfter } from '../lib/retry-after.js';
import { push, simulated } from './support/simulated.mjs';
import { answer } from './simulation/server.mjs';

/** Fri, 15 Jan 2027 08:00:00 GMT. */
const now = 1_800_000_000;

test('Retry-After is seconds or a date of HTTP', () => {
  const waits = {
    0: 0, 10: 10, 4294967295: 4_294_967_295, 'Fri, 15 Jan 2027 08:00:10 GMT': 10, 'Fri, 15 Jan 2027 08:00:00 GMT': 0,
    'Sun, 06 Nov 1994 08:49:37 GMT': 0, 'Mon, 01 Jan 0001 00:00:00 GMT': 0, 'Fri, 15 Jan 2027 08:00:60 GMT': 60,
    'Friday, 15-Jan-27 08:00:10 GMT': 10, 'Sunday, 06-Nov-94 08:49:37 GMT': 0,
    'Friday, 15-Jan-77 08:00:00 GMT': 1_577_923_200,
    'Saturday, 15-Jan-78 08:00:00 GMT': 0, 'Fri Jan 15 08:00:10 2027': 10, 'Sun Nov  6 08:49:37 1994': 0,
    'Tue, 29 Feb 2028 08:00:00 GMT': 35_424_000, 'Fri, 31 Dec 9999 23:59:60 GMT': 4_294_967_295,
  };
  for (const [text, seconds] of Object.entries(waits)) assert.equal(retryAfter(text, now), seconds, text);
  const others = [
    'Fri, 15 Jan 2027 08:00:10 CET', 'Fri, 15 jan 2027 08:00:10 GMT', '15 Jan 2027 08:00:10 GMT',
    'Fri, 35 Jan 2027 08:00:10 GMT', 'Fri, 00 Jan 2027 08:00:10 GMT', 'Fri, 15 Jan 2027 24:00:10 GMT',
    'Fri, 15 Jan 2027 08:60:10 GMT', 'Fri, 15 Jan 2027 08:00:61 GMT', 'Fri, 15 Jan 2027 08:0:10 GMT',
    'Fri, 15 Jan +027 08:00:10 GMT', 'Mon, 29 Feb 2027 08:00:10 GMT', 'Fri, 15-Jan-27 08:00:10 GMT',
    'Friday, 15-Jan-2027 08:00:10 GMT', 'Fri Jan 35 08:00:10 2027', 'Fri Jan 15 08:00:10 27',
    '-10', '+10', '1.5', '4294967296', '', ' 10', undefined,
  ];
  for (const text of others) assert.equal(retryAfter(text, now), null, text);
});

simulated('a Retry-After date is kept if it fits', async (device) => {
  const { client } = device.start();
  const date = () => new Date((Math.floor(device.clock.now) + 10) * 1000).toUTCString();
  const id = device.server.send();
  device.intercept(`GET /api/notifications/${id}`, () => answer(503, null, { 'retry-after': date() }));
  const begin = device.clock.uptime;
  assert.deepEqual((await push(device, client, id)).shown, [id]);
  assert.ok(device.clock.uptime - begin >= 9);
});
