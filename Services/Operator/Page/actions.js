// Actions of the operator: the page asks for confirmation first, and reports the result.
import { post } from "./api.js";
import { app, tell } from "./app.js";

const byID = (id) => document.getElementById(id);

const words = {
  Resent: "sent again", Settled: "not owed any more", Expired: "expired", Revoked: "revoked", Unreadable: "unreadable",
  LettersRemoved: "removed from the dead-letter queue", Replayed: "replayed", Dropped: "dropped", Left: "left in the queue", NotFound: "not found",
};

/** Whether another request gets further than this one. */
const leadsOn = (answer) => Boolean(answer.HasMore && !answer.Failure && (answer.Next || answer.Replayed > 0));

/** The counts of an answer as sentences. */
export function summary(answer) {
  const parts = Object.entries(words).filter(([name]) => answer[name] > 0)
    .map(([name, word]) => `${answer[name].toLocaleString("en-US")} ${word}`);
  const end = answer.Failure ? `. The broker did not confirm the rest: ${answer.Failure}`
    : answer.LettersProblem ? `. Their dead letters are still in the queue: ${answer.LettersProblem}` : "";
  return `${parts.join(", ") || "Nothing was to be done"}${end}.${rest(answer)}`;
}

/** The next step of the operator. */
function rest(answer) {
  if (leadsOn(answer)) return " There may be more: go on.";
  if (!answer.HasMore || answer.Failure) return "";
  // Letters that cannot be replayed stay at the front of the queue. The page removes nothing.
  return " The letters behind them were not examined. First remove those that cannot be replayed, with "
    + "“securepush dead-letters replay --all --drop”.";
}

let planned = null;

/**
 * Asks a person, and then sends the request.
 *
 * @param plan `{ title, text, verb, path, body }`, and `after`: what to do when the dialogue of a sent one is closed
 */
export function ask(plan) {
  planned = { ...plan, body: { ...plan.body }, isSent: false };
  byID("dialogTitle").textContent = plan.title;
  byID("dialogText").textContent = plan.text;
  byID("dialogResult").textContent = "";
  byID("dialogConfirm").hidden = false;
  byID("dialogConfirm").disabled = false;
  byID("dialogConfirm").textContent = plan.verb;
  byID("dialogCancel").textContent = "Cancel";
  byID("dialog").showModal();
  byID("dialogCancel").focus();
}

async function confirm() {
  const [button, current] = [byID("dialogConfirm"), planned];
  let [text, goesOn] = ["", false];
  button.disabled = true;
  byID("dialogResult").textContent = "Working …";
  try {
    const answer = await post(current.path, current.body);
    // The page lists only the front of the queue, so all letters that were selected were examined.
    if (current.body.Ids) answer.HasMore = false;
    text = summary(answer);
    goesOn = leadsOn(answer);
    // The next request begins where this one ended. It would examine the same notifications again otherwise.
    if (answer.Next) current.body.Before = answer.Next;
  } catch (error) {
    text = error.status === 401 ? "✕ It was not done: log in again." : `✕ It was not done: ${error.message}`;
  }
  current.isSent = true;
  // The dialogue may have been closed meanwhile, and opened for something else.
  if (current !== planned || !byID("dialog").open) {
    tell(text);
    return current.after?.();
  }
  byID("dialogResult").textContent = text;
  button.hidden = !goesOn;
  button.disabled = false;
  button.textContent = "Go on";
  byID("dialogCancel").textContent = "Close";
  byID("dialogCancel").focus();
}

byID("dialogCancel").addEventListener("click", () => byID("dialog").close());
byID("dialogConfirm").addEventListener("click", confirm);
byID("dialog").addEventListener("close", () => {
  if (planned?.isSent) planned.after?.();
  app.refresh();
});
