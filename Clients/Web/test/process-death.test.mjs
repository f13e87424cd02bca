import assert from 'node:assert/strict';
import test from 'node:test';
import { SimulatedDevice } from './simulation/device.mjs';
import { SimulatedServer } from './simulation/server.mjs';

/** How a wake begins. `prepare` brings the browser to the moment before it; the process may die in `wake`. */
const scenarios = {
  push: {
    prepare: (device) => device.logIn(),
    wake: (device, app, id) => device.receive(app, device.push(id)),
  },
  refresh: {
    async prepare(device) {
      await device.logIn();
      device.server.revokeAccessTokens();
    },
    wake: (device, app, id) => device.receive(app, device.push(id)),
  },
  resume: {
    async prepare(device, id) {
      await device.logIn();
      device.server.endSessions();
      await device.receive(device.start(), device.push(id));
    },
    async wake(device, app) {
      await app.credentials.logIn(SimulatedServer.user, SimulatedServer.password).catch(() => {});
      await app.client.resumeAfterLogIn();
    },
  },
  withdrawal: {
    async prepare(device, id) {
      await device.logIn();
      await device.receive(device.start(), device.push(id));
    },
    async wake(device, app, id) {
      device.server.revoke(id);
      await device.receive(app, device.push(id, { withdraw: true }));
    },
  },
  // With DISPATCH_WITHDRAW=read the server withdraws what the dead process has asked for: one secret, or a page.
  readEcho: {
    hasEcho: true,
    prepare: (device) => device.logIn(),
    wake: (device, app, id) => device.receive(app, device.push(id)),
  },
  pageEcho: {
    hasEcho: true,
    prepare: (device) => device.logIn(),
    wake: (device, app) => app.client.catchUp(),
  },
};

/** One life. Returns null if the wake has no such point. */
async function live(scenario, diesAt, device) {
  const [missed, pushed] = [device.server.send(), device.server.send()];
  await scenario.prepare(device, pushed);
  const app = device.start({ diesAt });
  const hasLived = await Promise.race([scenario.wake(device, app, pushed).then(() => true), app.process.death]);
  if (hasLived) return null;
  // The next wakes, each in a new process: the page, a repeated push, the page again.
  await device.clock.sleep(60);
  if (scenario.hasEcho) await device.echoReads(() => device.start());
  await device.start().client.catchUp();
  if (device.screen.isPrompting) {
    await device.logIn();
    await device.start().client.resumeAfterLogIn();
  }
  await device.clock.sleep(60);
  for (const id of [missed, pushed]) await device.receive(device.start(), device.push(id));
  await device.start().client.catchUp();
  return { point: app.process.points.at(-1), shown: [missed, pushed].map((id) => device.screen.secrets.get(id) ?? 0) };
}

test('death between any two steps loses nothing and shows nothing twice', async (context) => {
  const deaths = {};
  const wrong = [];
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const seed of [0, 1]) {
      for (let point = 1; ; point += 1) {
        const device = new SimulatedDevice({ seed });
        const end = await device.clock.run(() => live(scenario, point, device));
        if (!end) break;
        deaths[name] = (deaths[name] ?? 0) + 1;
        if (String(end.shown) !== '1,1') wrong.push(`${name}, seed ${seed}, ${end.point}: shown ${end.shown}`);
      }
    }
  }
  const count = Object.values(deaths).reduce((sum, number) => sum + number, 0);
  context.diagnostic(`Process deaths: ${count} (${JSON.stringify(deaths)}). Lost or shown twice: ${wrong.length}.`);
  assert.deepEqual(wrong, []);
  assert.ok(count > 150);
});

test('fifty pushes at once, each twice, show each secret once', async (context) => {
  const totals = { shown: 0, inboxes: 0, tokens: 0, slowest: 0 };
  for (let seed = 0; seed < 5; seed += 1) {
    const device = new SimulatedDevice({ seed });
    await device.clock.run(async () => {
      await device.logIn();
      device.server.revokeAccessTokens();
      const ids = Array.from({ length: 50 }, () => device.server.send());
      const [worker, page] = [device.start(), device.start()];
      const runs = await Promise.all([...ids, ...ids].map((id, number) => (
        device.receive(number % 2 === 0 ? worker : page, device.push(id)))));
      await device.start().client.catchUp();
      assert.deepEqual(ids.map((id) => device.screen.secrets.get(id)), ids.map(() => 1), `seed ${seed}`);
      assert.ok(runs.every((run) => run.completions === 1 && run.seconds <= 28), `seed ${seed}`);
      totals.shown += ids.length;
      totals.inboxes += device.server.log.filter((line) => line === 'GET /api/notifications').length;
      totals.tokens += device.server.requests('POST /api/token');
      totals.slowest = Math.max(totals.slowest, ...runs.map((run) => run.seconds));
    });
  }
  context.diagnostic(
    `50 notifications, each pushed twice at once, in 5 orders of events: ${totals.shown} secrets shown (250 expected), `
    + `${totals.inboxes} inbox requests, ${totals.tokens} token requests, slowest ${totals.slowest.toFixed(2)} s.`);
});
