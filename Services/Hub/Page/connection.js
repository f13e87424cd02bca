// The connection string: the key is fetched only when a person asks for it, and forgotten when it is hidden again.
import { ask } from "./news.js";

const byID = (id) => document.getElementById(id);
let connection = null;
let keyShown = false;

const noted = new Set();

/** Reads it again for each hub that is new to this page. */
export function noteHub(name) {
  if (!name || noted.has(name)) return;
  noted.add(name);
  if (connection && !connection.Hubs.includes(name.toLowerCase())) loadConnection();
}

export async function loadConnection() {
  // What is not answered is asked again when the emulator is back.
  const answer = await fetch("emulator/connection").catch(() => null);
  if (!answer?.ok) return;
  connection = await answer.json();
  byID("connection").hidden = false;
  const names = connection.Hubs.slice(0, 5).join(", ") + (connection.Hubs.length > 5 ? ", …" : "");
  byID("hubNames").textContent = connection.AnyHub ? (names ? `${names}, or any name` : "any name") : names;
  if (!connection.HasKey) {
    // This is `hub`: the page is for its simulated platforms, and its keys are in HUB_ACCESS_FILE alone.
    document.title = document.querySelector("h1").textContent = "Hub, simulated devices";
    byID("keyButton").hidden = byID("copyButton").hidden = true;
  }
  if (!keyShown) showConnection(connection.WithoutKey, false);
}

function showConnection(text, hasKey) {
  keyShown = hasKey;
  byID("connectionString").textContent = text;
  byID("keyButton").setAttribute("aria-pressed", String(hasKey));
}

function tell(text) { byID("connectionTold").textContent = text; }

/** The whole connection string; undefined if the emulator does not give it to this browser. */
async function wholeConnection() {
  tell("");
  const answer = await ask("The key is not shown", "emulator/connection/key", { method: "POST" });
  return answer && (await answer.json()).ConnectionString;
}

byID("keyButton").addEventListener("click", async () => {
  if (keyShown) return showConnection(connection.WithoutKey, false);
  const text = await wholeConnection();
  if (text) showConnection(text, true);
});

byID("copyButton").addEventListener("click", async () => {
  const text = await wholeConnection();
  if (!text) return;
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied, with the key.");
  } catch {
    // Outside of localhost and HTTPS there is no clipboard: the text is selected, so that Ctrl-C copies it.
    showConnection(text, true);
    getSelection().selectAllChildren(byID("connectionString"));
    tell("Selected. Press Ctrl-C to copy.");
  }
});
