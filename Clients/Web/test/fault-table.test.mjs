import assert from 'node:assert/strict';
import test from 'node:test';
import { pushDevice } from '../securepush.js';
import { SimulatedDevice } from './simulation/device.mjs';
import { faults, hostileTexts, lengths, stages } from './simulation/faults.mjs';
import { breaks, subscription } from './support/simulated.mjs';

/**
 * How the push meets the client: in the worker alone; in the worker while a page catches up at the same moment, which
 * is another process on the same store; in the worker, and with `DISPATCH_WITHDRAW=read` the next wakes are withdrawals
 * of what the server saw fetched.
 */
const ways = ['worker', 'worker and page', 'echo'];

/** The client's memory is all that there is of the state then. */
const losesState = ['store full', 'store read-only', 'store hangs', 'store throws'];

/** What the table of the Swift SDK has, and a browser does not. */
const missing = [
  'Stage timeWillExpire: browsers do not announce the end of a worker. Process deaths cover it.',
  'Way alert: the push of a browser has no text of its own, so silent and alert are the same.',
];

/**
 * One cell of the table: a wake with one fault at one stage, and afterwards a browser on which everything works again.
 */
async function observe(device, { fault, stage, length, way }) {
  const { server, clock, screen } = device;
  const plan = device.plan(fault, stage, length);
  const [missed, pushed] = [server.send(), server.send()];
  await device.logIn();
  if (stage === 'resume') server.endSessions();
  if (stage === 'token') clock.dateOffset += 2 * 3_600;
  if (stage === 'refresh') server.revokeAccessTokens();
  if (stage === 'register') await failToRegister(device);
  const text = device.push(pushed);
  const app = device.start({ faults: plan });
  const page = device.start({ faults: plan });
  plan.attack = () => { for (const hostile of hostileTexts(pushed)) device.receive(app, hostile); };
  plan.reach('parse');
  plan.reach('verify');
  const other = way === 'worker and page' ? page.client.catchUp() : null;
  let { seconds, completions } = await device.receive(app, text);
  await other;
  if (stage === 'resume') {
    await device.logIn();
    plan.reach('resume');
    const begin = clock.uptime;
    await app.client.resumeAfterLogIn();
    seconds = clock.uptime - begin;
  }
  await clock.sleep(60);
  const seen = {
    struck: plan.hasStruck || fault === 'none', completions, seconds, shown: screen.secrets.get(pushed) ?? 0,
    hints: screen.hints,
  };
  await recover(device, plan, way, [missed, pushed], app);
  const secrets = new Set(server.stored.map((entry) => entry.payload));
  const registered = isRegistered(device);
  if (stage === 'register') await leave(device);
  return {
    ...seen, isRegistered: registered, installations: server.installations.size,
    finallyShown: [missed, pushed].map((id) => screen.secrets.get(id) ?? 0),
    strayRequests: server.strayRequests, leaks: [...screen.texts].filter((shown) => !secrets.has(shown)).length,
  };
}

const tags = ['news'];

/** The app registers the device, and nothing answers. The end of the wake tries it again. */
async function failToRegister(device) {
  device.subscription = subscription('first');
  device.intercept('PUT /api/installations', breaks, 100);
  await assert.rejects(device.start().client.register(pushDevice(device.subscription, tags)));
  device.interceptions.length = 0;
}

/** Whether the server has the device as the app has registered it. */
const isRegistered = ({ server, disk }) => (
  String(server.installations.get(disk.state.registration.installationID)?.tags) === String(tags));

/** The app unregisters the device, and another wake follows. */
async function leave(device) {
  await device.logIn();
  const { client } = device.start();
  await client.unregister();
  await client.catchUp();
}

/**
 * Everything works again, a minute later: the withdrawals that follow a fetch come, the page opens, and the user logs
 * in if that is needed.
 */
async function recover(device, plan, way, ids, first) {
  plan.heal();
  await device.clock.sleep(60);
  // What could not be stored is in the memory of the process. If that ends first, a secret may be shown again.
  const app = losesState.includes(plan.fault) ? first : device.start();
  if (way === 'echo') await device.echoReads(() => app);
  const report = await app.client.catchUp();
  await device.clock.sleep(60);
  if (device.screen.isPrompting || ['SP-LOGIN', 'SP-401'].includes(report.code)) {
    await device.logIn();
    await app.client.resumeAfterLogIn();
  }
  // The sender repeats its push; what was shown must not be shown again, also not by another process.
  const next = device.start();
  for (const id of ids) await device.receive(next, device.push(id));
  await next.client.catchUp();
}

function complaints({ fault, stage, way }, seen) {
  const wrong = [];
  // Only the app asks again after a refusal, and after the loss of the state.
  const isRegistered = stage === 'register' && !['403', '404', '410', 'store corrupt'].includes(fault);
  // A silent push whose signature seems to be more than 28 days old, or a day ahead, is ignored (contract, section A).
  const looksTooOld = ['clock forward', 'clock back'].includes(fault)
    && ['parse', 'verify', 'store'].includes(stage);
  // Shown IDs are forgotten when the state is damaged. Two processes whose store cannot be written do not know of each
  // other.
  const mayRepeat = fault === 'store corrupt'
    || (way === 'worker and page' && losesState.includes(fault));
  if (!seen.struck) wrong.push('the fault did not strike');
  if (isRegistered && !seen.isRegistered) wrong.push('not registered');
  // One process is told that the ID is given up, and the other one registers it: no server does that.
  const mayLeaveOne = ['404', '410'].includes(fault) && way === 'worker and page';
  if (stage === 'register' && seen.installations > 0 && !mayLeaveOne) wrong.push('still registered');
  if (seen.completions !== 1) wrong.push(`${seen.completions} completions`);
  if (seen.seconds > 28) wrong.push(`${seen.seconds} s`);
  if (seen.shown > (mayRepeat ? 2 : 1)) wrong.push(`shown ${seen.shown} times`);
  if (seen.shown === 0 && seen.hints === 0 && !looksTooOld) wrong.push('the user sees nothing');
  if (seen.strayRequests > 0) wrong.push(`${seen.strayRequests} requests to another host`);
  if (seen.leaks > 0) wrong.push(`${seen.leaks} texts that are nobody's`);
  if (seen.finallyShown.some((count) => count > (mayRepeat ? 2 : 1))) wrong.push(`finally shown ${seen.finallyShown}`);
  if (seen.finallyShown.includes(0)) wrong.push(`lost: finally shown ${seen.finallyShown}`);
  return wrong;
}

test('every fault at every stage ends once and in time', async (context) => {
  const total = { cells: 0, struck: 0, completions: 0, secrets: 0, hints: 0, slowest: 0, slowestCell: '' };
  const wrong = [];
  for (const fault of faults) {
    for (const stage of stages) {
      for (const length of lengths) {
        for (const way of ways) {
          const cell = { fault, stage, length, way };
          const name = Object.values(cell).join(', ');
          const device = new SimulatedDevice();
          const seen = await device.clock.run(() => observe(device, cell)).catch((error) => ({ error }));
          if (seen.error) {
            wrong.push(`${name}: ${seen.error.stack}`);
            continue;
          }
          total.cells += 1;
          total.struck += seen.struck && fault !== 'none' ? 1 : 0;
          total.completions += seen.completions;
          total.secrets += seen.shown > 0 ? 1 : 0;
          total.hints += seen.shown === 0 ? 1 : 0;
          if (seen.seconds > total.slowest) Object.assign(total, { slowest: seen.seconds, slowestCell: name });
          wrong.push(...complaints(cell, seen).map((text) => `${name}: ${text}`));
        }
      }
    }
  }
  context.diagnostic(
    `Fault table: ${faults.length - 1} faults and none × ${stages.length} stages × ${lengths.length} lengths × `
    + `${ways.length} ways, ${total.cells} cells; the fault struck in ${total.struck}. `
    + `Completions ${total.completions}, one per cell. The wake showed the secret in ${total.secrets} cells `
    + `and a generic text or prompt in ${total.hints}. Slowest: ${total.slowest.toFixed(2)} s (${total.slowestCell}). `
    + `Wrong: ${wrong.length}.`);
  for (const line of missing) context.diagnostic(`Not in a browser: ${line}`);
  assert.deepEqual(wrong.slice(0, 40), []);
  assert.equal(total.cells, 34 * 12 * 2 * 3);
});
